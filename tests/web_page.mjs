// The backend webgl in Chromium: networks of TSR_MODELS against ONNX Runtime's outputs, and a context that is lost.
// Usage: node web_page.mjs [llvmpipe|swiftshader] [NETWORK...], after tools/web.sh build. It needs Debian's chromium and npm's
// playwright-core, in a folder that NODE_PATH names or above the current one.
import assert from 'node:assert/strict';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const models = process.env.TSR_MODELS ?? resolve(root, '../shared/models');
const folders = { '/web/': `${root}/build-web`, '/models/': models };
const types = { '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const drivers = {
    llvmpipe: ['--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
    swiftshader: ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
};
// Sizes of dimensions that the models leave open, as their reference inputs have them.
const dims = {
    ppocr_cls_mbv3: { 'p2o.DynamicDimension.0': 1, 'p2o.DynamicDimension.1': 48, 'p2o.DynamicDimension.2': 192 },
    unet_sed_224: { N: 1 },
};

function serve(request, response) {
    const { pathname } = new URL(request.url, 'http://localhost');
    const prefix = Object.keys(folders).find(p => pathname.startsWith(p));
    const file = prefix && join(folders[prefix], pathname.slice(prefix.length));
    if (pathname === '/') {
        response.setHeader('content-type', 'text/html');
        response.end('<!doctype html><title>Tessera</title>');
    } else if (file && existsSync(file)) {
        response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
        createReadStream(file).pipe(response);
    } else {
        response.statusCode = 404;
        response.end();
    }
}

// In the page: runs a network a few times; the largest error, as a part of what the README of the models allows. noise: how far
// the reference itself moves, output by output.
async function runNetwork({ name, dims, noise }) {
    const { load } = await import('/web/tessera.mjs');
    const fetched = async path => (await fetch(path)).arrayBuffer();
    const npy = async path => {
        const bytes = await fetched(path);
        return new Float32Array(bytes.slice(10 + new DataView(bytes).getUint16(8, true)));
    };
    const bytes = await fetched(`/models/${name}/model.onnx`), start = performance.now();
    const network = await load(bytes, { backend: 'webgl', name, dims });
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

// In the page: what a run says after the context is lost.
async function loseContext() {
    const contexts = [], getContext = OffscreenCanvas.prototype.getContext;
    OffscreenCanvas.prototype.getContext = function (...values) {
        contexts.push(getContext.apply(this, values));
        return contexts.at(-1);
    };
    const { load } = await import('/web/tessera.mjs');
    const bytes = await (await fetch('/models/mnist_cntk/model.onnx')).arrayBuffer();
    const network = await load(bytes, { backend: 'webgl', name: 'mnist' });
    OffscreenCanvas.prototype.getContext = getContext;
    const feeds = { [network.inputs[0].name]: new Float32Array(784) };
    await network.run(feeds);
    contexts[0].getExtension('WEBGL_lose_context').loseContext();
    const said = await network.run(feeds).then(() => 'nothing', error => error.message);
    network.dispose();
    return said;
}

const [driver = 'llvmpipe', ...chosen] = process.argv.slice(2);
if (!drivers[driver])
    throw new Error(`there is no driver '${driver}', only ${Object.keys(drivers).join(' and ')}`);
if (!existsSync(models)) {
    console.log(`lacking: networks (there is no folder ${models}; see TSR_MODELS)`);
    process.exit(0);
}
const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const server = createServer(serve).listen(0);
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-quic', ...drivers[driver]],
    env: { ...process.env, EGL_PLATFORM: 'surfaceless', LIBGL_ALWAYS_SOFTWARE: '1' },
});
try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${server.address().port}/`);
    const names = chosen.length ? chosen : readdirSync(models).filter(name => existsSync(`${models}/${name}/model.onnx`));
    const index = JSON.parse(readFileSync(`${models}/index.json`));
    let failed = 0;
    for (const name of names) {
        const { first, steady, errors } = await page.evaluate(runNetwork, {
            name, dims: dims[name] ?? {}, noise: index[name].reference_noise.map(output => output.maxdiff),
        });
        const worst = Math.max(...errors), good = worst <= 1;
        failed += !good;
        console.log(`${good ? 'ok' : 'FAIL'}: ${name}: ${worst.toExponential(1)} of the tolerance, loaded and run in ` +
            `${first.toFixed(0)} ms, then ${steady.toFixed(1)} ms a run`);
    }
    const said = await page.evaluate(loseContext);
    console.log(`${said.includes('lost') ? 'ok' : 'FAIL'}: a lost context: ${said}`);
    assert.ok(said.includes('lost'));
    assert.equal(failed, 0, `${failed} networks are off`);
} finally {
    await browser.close();
    server.close();
}
