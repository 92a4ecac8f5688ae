// ONNX's own tests of operators (Debian's libonnx-testdata), in node or in a browser: all that pass natively have to pass.
// Usage: node web_official.mjs [node|llvmpipe|swiftshader|firefox] [cpu|webgl|webgpu] [LIST], after tools/web.sh build. LIST: folders,
// one a line; by default conformance.txt, all of which passes natively. It prints what `tessera check` prints, but for the tests
// that pass. In node each test runs twice: as pages load it, and with the full module alone. In a browser it runs every fourth
// test, unless TSR_TEST_CASES is "all": what a page can do otherwise than node or the native library does not depend on the
// operator. See support/browsers.mjs.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { root, withPage } from './support/browsers.mjs';
import { keepDevices, runTest } from './support/onnx_tests.mjs';

const [where = 'node', backend = where === 'node' ? 'cpu' : 'webgl', list = `${root}/tests/conformance.txt`] =
    process.argv.slice(2);
const data = '/usr/share/libonnx-testdata/data';
if (!existsSync(data)) {
    console.log(`lacking: ONNX's tests (${data}); on Debian: apt install libonnx-testdata`);
    process.exit(process.env.CI ? 1 : 0);
}

function setsOf(folder) {
    const sets = [];
    while (existsSync(`${data}/${folder}/test_data_set_${sets.length}`)) {
        const files = readdirSync(`${data}/${folder}/test_data_set_${sets.length}`);
        const count = kind => files.filter(file => file.startsWith(kind)).length;
        sets.push({ inputs: count('input_'), outputs: count('output_') });
    }
    return sets;
}

// In the page. Networks that stay keep the devices of their modules, which the tests share.
async function runInPage({ backend, test }) {
    const [{ load }, { keepDevices, runTest }] = await Promise.all([import('/web/tessera.mjs'), import('/support/onnx_tests.mjs')]);
    const read = async path => new Uint8Array(await (await fetch(`/data/${path}`)).arrayBuffer());
    globalThis.kept ??= await keepDevices(load, backend, read, new URL('/web/tessera.wasm', location));
    return runTest(load, backend, read, test);
}

const every = where === 'node' || process.env.TSR_TEST_CASES === 'all' ? 1 : 4;
const tests = readFileSync(list, 'utf8').split('\n').map(line => line.replace(/#.*/, '').trim()).filter(Boolean)
    .filter((_, i) => i % every === 0).map(folder => ({ folder, sets: setsOf(folder) }));
const counts = { PASS: 0, FAIL: 0, SKIP: 0 };
let constants = 0;

async function runAll(run) {
    for (const test of tests) {
        const { result, why, constants: fixed } = await run(test);
        counts[result]++;
        constants += Number(fixed);
        if (why)
            console.log(`${result} ${test.folder}: ${why}`);
    }
}

const start = performance.now();
if (where === 'node') {
    const { load } = await import(pathToFileURL(`${root}/build-web/tessera.mjs`));
    const wasm = pathToFileURL(`${root}/build-web/tessera.wasm`), full = (model, options) => load(model, { ...options, wasm });
    const read = async path => new Uint8Array(readFileSync(`${data}/${path}`));
    const kept = await keepDevices(load, backend, read, wasm);
    await runAll(test => runTest(load, backend, read, test));
    await runAll(test => runTest(full, backend, read, test));
    kept.forEach(network => network.dispose());
} else {
    await withPage(where, { '/web/': `${root}/build-web`, '/data/': data }, page =>
        runAll(test => page.evaluate(runInPage, { backend, test })));
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(`${where}, ${backend}: ${seconds} s; ${constants} tests with inputs that were made constants`);
console.log(`${counts.PASS} passed, ${counts.FAIL} failed, ${counts.SKIP} skipped`);
process.exit(tests.length && counts.PASS === tests.length * (where === 'node' ? 2 : 1) ? 0 : 1);
