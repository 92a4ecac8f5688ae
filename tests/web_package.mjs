// The npm package: packed, installed, used by node, by TypeScript, and by pages: as it is, built by Vite and by
// webpack, from Vite's development server.
// Usage: node web_package.mjs [swiftshader|llvmpipe], after tools/web.sh build. NODE_PATH names tools/get-npm.sh's packages.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, withPage } from './support/browsers.mjs';
import { chain } from './support/onnx_model.mjs';

const [driver = 'swiftshader'] = process.argv.slice(2);
const backends = ['cpu', 'webgl', ...driver === 'swiftshader' ? ['webgpu'] : []];
const { resolve } = createRequire(`${process.cwd()}/`);
const project = mkdtempSync(join(tmpdir(), 'tessera-nn-')), file = name => join(project, name);
const write = (name, text) => writeFileSync(file(name), text);
const run = (program, ...args) => execFileSync(program, args, { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });

const model = chain([3], ['Neg']);

const html = script => `<!doctype html><title>Tessera</title><link rel=icon href=data:,>${script}`;
const use = "import { load } from 'tessera-nn'; globalThis.load = load;";
const types = readFileSync(`${root}/src/web/tessera.d.ts`, 'utf8');
const declared = [...types.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name]) => name).sort();

function install() {
    run(`${root}/tools/web.sh`, 'pack');
    write('package.json', '{ "private": true, "type": "module" }');
    run('npm', 'pack', `${root}/build-web/package`, '--loglevel=error');
    const [tarball] = readdirSync(project).filter(name => name.endsWith('.tgz'));
    run('npm', 'install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', `./${tarball}`);
    write('net.onnx', model);
    write('main.mjs', use);
    write('index.html', html('<script type=module src=./main.mjs></script>'));
    const plain = use.replace('tessera-nn', './node_modules/tessera-nn/tessera.mjs');
    write('plain.html', html(`<script type=module>${plain}</script>`));
    console.log(`ok: ${tarball}: ${readFileSync(file(tarball)).length} bytes, installed`);
}

function useInNode() {
    write('node.mjs', `
        import assert from 'node:assert/strict';
        import { readFileSync } from 'node:fs';
        import { createRequire } from 'node:module';
        import * as tessera from 'tessera-nn';
        assert.deepEqual(Object.keys(tessera).sort(), ${JSON.stringify(declared)});
        assert.equal(tessera.version, JSON.parse(readFileSync('node_modules/tessera-nn/package.json')).version);
        for (const model of ['net.onnx', new URL('net.onnx', import.meta.url), readFileSync('net.onnx')]) {
            const network = await tessera.load(model, { backend: 'cpu' });
            assert.deepEqual((await network.run({ x: Float32Array.of(1, 2, 3) })).y, Float32Array.of(-1, -2, -3));
            network.dispose();
        }
        new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve('tessera-nn/tessera.wasm')));`);
    run(process.execPath, 'node.mjs');
    console.log('ok: node');
}

function useInTypeScript() {
    copyFileSync(`${root}/tests/support/sample.ts`, file('sample.ts'));
    const modes = { bundler: ['esnext', 'es2022,dom'], nodenext: ['nodenext', 'esnext,dom'] };
    for (const [resolution, [module, lib]] of Object.entries(modes)) {
        const { stdout } = spawnSync(process.execPath, [resolve('typescript/lib/tsc.js'), '--noEmit', '--strict',
            '--target', 'es2022', '--module', module, '--moduleResolution', resolution, '--lib', lib, 'sample.ts'],
        { cwd: project, encoding: 'utf8' });
        assert.equal(stdout, '', `TypeScript, resolution ${resolution}`);
        console.log(`ok: TypeScript, resolution ${resolution}, lib ${lib}`);
    }
}

// Its module: what resolves is the outdated form for require().
const importVite = () => import(pathToFileURL(join(dirname(resolve('vite/package.json')), 'dist/node/index.js')));

async function buildVite() {
    const { build } = await importVite();
    await build({ root: project, base: './', configFile: false, logLevel: 'error', build: { outDir: 'vite' } });
}

async function buildWebpack() {
    const { default: webpack } = await import(pathToFileURL(resolve('webpack')));
    const stats = await new Promise((done, fail) => {
        const options = { mode: 'production', performance: false, entry: './main.mjs', output: { path: file('webpack') } };
        webpack({ context: project, ...options }, (error, result) => (error ? fail(error) : done(result)));
    });
    assert.deepEqual(stats.toJson().errors.concat(stats.toJson().warnings).map(({ message }) => message), []);
    write('webpack/index.html', html('<script src=main.js></script>'));
}

// As the package's README says.
async function serveVite() {
    const { createServer } = await importVite();
    const server = await createServer({
        root: project, configFile: false, logLevel: 'error', server: { port: 0 }, optimizeDeps: { exclude: ['tessera-nn'] },
    });
    return server.listen();
}

// In the page.
async function runNetwork([bytes, options]) {
    while (!globalThis.load)
        await new Promise(resolve => { setTimeout(resolve, 10); });
    const network = await load(Uint8Array.from(bytes), options), { y } = await network.run({ x: Float32Array.of(1, 2, 3) });
    network.dispose();
    return [network.backend, ...y];
}

async function usePage(page, site, address) {
    const complaints = [], complain = message => complaints.push(String(message.text?.() ?? message.message));
    page.on('pageerror', complain);
    page.on('console', message => message.type() === 'error' && complain(message));
    await page.goto(address);
    for (const backend of backends)
        for (const worker of [false, true]) {
            const found = await page.evaluate(runNetwork, [[...model], { backend, worker }]);
            assert.deepEqual(found, [backend, -1, -2, -3], `${site}, ${backend}`);
        }
    assert.deepEqual(complaints, [], site);
    page.removeAllListeners();
    console.log(`ok: ${site}: ${backends.join(', ')}, also in workers`);
}

try {
    install();
    useInNode();
    useInTypeScript();
    await buildVite();
    await buildWebpack();
    const server = await serveVite();
    try {
        const sites = {
            'the package as it is': 'plain.html', Vite: 'vite/', webpack: 'webpack/',
            "Vite's development server": server.resolvedUrls.local[0],
        };
        // A browser each: Chromium may close a page that leaves workers with GPUs behind when it goes elsewhere.
        for (const [site, address] of Object.entries(sites))
            await withPage(driver, { '/': project }, (page, url) => usePage(page, site, String(new URL(address, url))));
    } finally {
        await server.close();
    }
} finally {
    rmSync(project, { recursive: true });
}
