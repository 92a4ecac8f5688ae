// A backend of pages in a browser: networks of TSR_MODELS against ONNX Runtime's outputs, with the small module alone; what needs
// the full one gets it.
// Usage: node web_page.mjs [llvmpipe|swiftshader|firefox] [webgl|webgpu] [NETWORK...], after tools/web.sh build. See support/browsers.mjs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { models, root, withPage } from './support/browsers.mjs';
import { chain } from './support/onnx_model.mjs';

// Sizes of dimensions that the models leave open, as their reference inputs have them.
const dims = {
    ppocr_cls_mbv3: { 'p2o.DynamicDimension.0': 1, 'p2o.DynamicDimension.1': 48, 'p2o.DynamicDimension.2': 192 },
    unet_sed_224: { N: 1 },
};

// In the page: runs a network a few times; the largest error, as a part of what the README of the models allows. noise: how far
// the reference itself moves, output by output.
async function runNetwork({ name, backend, dims, noise }) {
    const [{ load }, { readNpy }] = await Promise.all([import('/web/tessera.mjs'), import('/support/npy.mjs')]);
    const fetched = async path => (await fetch(path)).arrayBuffer();
    const npy = async path => readNpy(await fetched(path));
    const bytes = await fetched(`/models/${name}/model.onnx`), start = performance.now();
    const network = await load(bytes, { backend, name, dims });
    const feeds = {};
    for (const [i, input] of network.inputs.entries())
        feeds[input.name] = await npy(`/models/${name}/input_${i}.npy`);
    let results = await network.run(feeds);
    const first = performance.now() - start, times = [];
    for (let i = 0; i < 5; i++) {
        const begin = performance.now();
        results = await network.run(feeds);
        times.push(performance.now() - begin);
    }
    const errors = [];
    for (const [i, output] of network.outputs.entries()) {
        const expected = await npy(`/models/${name}/output_${i}.npy`);
        const largest = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
        errors.push(results[output.name].reduce((most, x, j) =>
            Math.max(most, Math.abs(x - expected[j]) / (1e-4 * largest + noise[i] + 1e-3 * Math.abs(expected[j]))), 0));
    }
    network.dispose();
    return { first, steady: times.sort((a, b) => a - b)[2], errors };
}

// In the page: are operators that the small module lacks computed, in a worker and beside the page's own, too, and what is said of one
// that does not exist?
async function runOthers({ backend, bytes, custom, unknown }) {
    const { load } = await import('/web/tessera.mjs'), results = [];
    const compute = ([x], y) => x.data.forEach((value, i) => { y.data[i] = -value; }), body = 'return -IN0(n, c, y, x);';
    const negative = { name: 'Negative', domain: '', compute, glsl: body, wgsl: body };
    for (const [model, options] of [[bytes, {}], [bytes, { worker: true }], [custom, { customOps: [negative] }]]) {
        const network = await load(Uint8Array.from(model), { backend, ...options });
        results.push([...(await network.run({ x: Float32Array.of(1.2, -2.7, 3.5) })).y]);
        network.dispose();
    }
    return { results, message: await load(Uint8Array.from(unknown), { backend }).catch(error => error.message) };
}

// In the page: names of the modules that it fetched.
const modulesOf = page => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)
    .filter(name => name.endsWith('.wasm')).map(name => name.split('/').at(-1)));

const [driver = 'llvmpipe', backend = 'webgl', ...chosen] = process.argv.slice(2);
if (!existsSync(models)) {
    console.log(`lacking: networks (there is no folder ${models}; see TSR_MODELS)`);
    process.exit(0);
}
await withPage(driver, { '/web/': `${root}/build-web`, '/models/': models }, async page => {
    const names = chosen.length ? chosen : readdirSync(models).filter(name => existsSync(`${models}/${name}/model.onnx`));
    const index = JSON.parse(readFileSync(`${models}/index.json`));
    let failed = 0;
    for (const name of names) {
        const { first, steady, errors } = await page.evaluate(runNetwork, {
            name, backend, dims: dims[name] ?? {}, noise: index[name].reference_noise.map(output => output.maxdiff),
        });
        const worst = Math.max(...errors), good = worst <= 1;
        failed += !good;
        console.log(`${good ? 'ok' : 'FAIL'}: ${name}: ${worst.toExponential(1)} of the tolerance, loaded and run in ` +
            `${first.toFixed(0)} ms, then ${steady.toFixed(1)} ms a run`);
    }
    assert.equal(failed, 0, `${failed} networks are off`);
    const small = `tessera-${backend}.wasm`;
    assert.deepEqual(await modulesOf(page), [small]);
    const [bytes, custom, unknown] = [['Neg', 'Round'], ['Negative', 'Round'], ['Nothing']].map(ops => [...chain([3], ops)]);
    const { results, message } = await page.evaluate(runOthers, { backend, bytes, custom, unknown });
    assert.deepEqual(results, Array(3).fill([-1, 3, -4]));
    assert.match(message, /Nothing/);
    assert.deepEqual(await modulesOf(page), [small, 'tessera.wasm']);
    console.log(`ok: ${small} for all of them, tessera.wasm for others`);
});
