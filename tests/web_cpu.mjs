// The backend cpu as WebAssembly, in node: networks of TSR_MODELS against ONNX Runtime's outputs, and what goes wrong.
// Usage: node web_cpu.mjs [BUILD-WEB], after tools/web.sh build.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { models, root } from './support/browsers.mjs';
import { chain, model } from './support/onnx_model.mjs';
import { readNpy } from './support/npy.mjs';

const build = resolve(process.argv[2] ?? `${root}/build-web`);
if (!existsSync(models)) {
    console.log(`lacking: networks (there is no folder ${models}; see TSR_MODELS)`);
    process.exit(0);
}
const { load, InferenceSession, Tensor, TesseraError } = await import(pathToFileURL(`${build}/tessera.mjs`));

const top = values => values.indexOf(values.reduce((a, b) => Math.max(a, b)));

// Largest |a - b|, which the README of the models allows to be 1e-4 * max|b| + 1e-3 * |b|.
function compare(name, a, b) {
    assert.equal(a.length, b.length, `${name}: number of elements`);
    const largest = b.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    let error = 0;
    a.forEach((x, i) => {
        error = Math.max(error, Math.abs(x - b[i]));
        assert.ok(Math.abs(x - b[i]) <= 1e-4 * largest + 1e-3 * Math.abs(b[i]), `${name}[${i}]: ${x}, not ${b[i]}`);
    });
    assert.equal(top(a), top(b), `${name}: top class`);
    return { error, largest };
}

const floatsOf = (name, what) => readNpy(readFileSync(`${models}/${name}/${what}.npy`));
const bytesOf = name => readFileSync(`${models}/${name}/model.onnx`);

async function checkNetwork(name) {
    const expected = floatsOf(name, 'output_0'), input = floatsOf(name, 'input_0');
    const network = await load(bytesOf(name), { backend: 'cpu', name });
    assert.equal(network.inputs.length, 1);
    assert.equal(network.inputs[0].dtype, 'float32');
    assert.equal(network.inputs[0].shape.reduce((a, b) => a * b), input.length);
    const times = [];
    let found;
    for (let i = 0; i < 5; i++) {
        const start = performance.now();
        found = (await network.run({ [network.inputs[0].name]: input }))[network.outputs[0].name];
        times.push(performance.now() - start);
    }
    network.dispose();
    const { error, largest } = compare(name, found, expected);
    console.log(`ok: ${name}: largest error ${error.toExponential(2)} of ${largest.toExponential(2)}, ` +
        `median run ${times.sort((a, b) => a - b)[2].toFixed(1)} ms`);
}

const fails = (what, promise, message, status) =>
    assert.rejects(promise, error => {
        assert.ok(error instanceof TesseraError && message.test(error.message), `${what}: ${error.stack}`);
        assert.equal(error.status, status, what);
        console.log(`ok: ${what}: ${error.message}`);
        return true;
    }, what);

async function checkErrors() {
    const name = 'mnist_cntk', bytes = bytesOf(name), lines = [];
    await fails('no bytes', load(7), /no ArrayBuffer/, 'INVALID_ARGUMENT');
    await fails('no file', load('none/model.onnx'), /none.model\.onnx/, 'IO');
    await fails('an empty model', load(new Uint8Array(0)), /is empty/, 'INVALID_MODEL');
    for (const part of [0.1, 0.5, 0.99])
        await fails(`${part} of a model`, load(bytes.subarray(0, bytes.length * part), { name }), /mnist_cntk.*do not parse/, 'INVALID_MODEL');
    const text = string => new TextEncoder().encode(string);
    await fails('a page', load(text('<html></html>')), /a page/, 'INVALID_MODEL');
    await fails('no model', load(text('{"model": 1}')), /do not parse/, 'INVALID_MODEL');
    await fails('a pointer', load(text('version https://git-lfs.github.com/spec/v1\noid')), /Git LFS/, 'INVALID_MODEL');
    await fails('an aborted one', load(bytes, { signal: AbortSignal.abort() }), /aborted/, 'CANCELLED');
    const control = new AbortController();
    await fails('one that is aborted', load(bytes, { signal: control.signal, onProgress: () => control.abort() }), /aborted/,
        'CANCELLED');
    await fails('no such precision', load('none/model.onnx', { precision: 'fp17' }), /precision is 'fp17'/, 'INVALID_ARGUMENT');
    await fails('no such backend', load(bytes, { backend: 'abacus' }), /abacus/, 'INVALID_ARGUMENT');
    await fails('no such dimension', load(bytes, { dims: { batch: 2 } }), /batch/, 'INVALID_ARGUMENT');
    await fails('no such module', load(bytes, { wasm: pathToFileURL(`${build}/none.wasm`) }), /none\.wasm/, 'IO');
    const network = await load(bytes, { name, log: (level, message) => lines.push([level, message]) });
    const input = network.inputs[0].name, size = network.inputs[0].shape.reduce((a, b) => a * b);
    await fails('a run without inputs', network.run(), /Input3/, 'INVALID_ARGUMENT');
    await fails('a wrong name', network.run({ picture: new Float32Array(size) }), /picture/, 'INVALID_ARGUMENT');
    await fails('a wrong size', network.run({ [input]: new Float32Array(size - 1) }), /784.*783/, 'SHAPE');
    await fails('a list', network.run({ [input]: Array(size).fill(0) }), /Float32Array/, 'INVALID_ARGUMENT');
    await network.run({ [input]: new Float32Array(size) }); // it still works
    network.dispose();
    await fails('a run after dispose', network.run({ [input]: new Float32Array(size) }), /disposed/, 'INVALID_ARGUMENT');
    network.dispose(); // once more is harmless
}

// A small module that the page names gets no other in its place; the full one may be missing.
async function checkSmall() {
    const wasm = pathToFileURL(`${build}/tessera-webgl.wasm`), rare = chain([3], ['Round']), folder = mkdtempSync(join(tmpdir(), 'web-'));
    const network = await load(chain([3], ['Neg']), { wasm });
    await fails('no such input', load(chain([3], ['Neg']), { wasm, shapes: { other: [3] } }), /'other'/, 'INVALID_ARGUMENT');
    await fails('a small module alone', load(rare, { wasm }), /^no message: only tessera\.wasm/, 'UNSUPPORTED');
    network.dispose();
    for (const file of readdirSync(build).filter(name => /\.mjs$|^tessera-.*\.wasm$/.test(name)))
        cpSync(`${build}/${file}`, `${folder}/${file}`);
    const other = await import(pathToFileURL(`${folder}/tessera.mjs`));
    (await other.load(chain([3], ['Neg']))).dispose();
    await assert.rejects(other.load(rare, { name: 'rare' }), { status: 'IO', message: /^rare needs tessera\.wasm: ENOENT/ });
    rmSync(folder, { recursive: true });
    console.log('ok: small modules');
}

// The names of ONNX Runtime Web.
async function checkAlias() {
    const name = 'mnist_cntk', input = floatsOf(name, 'input_0');
    const session = await InferenceSession.create(`${models}/${name}/model.onnx`, { executionProviders: ['wasm'] });
    assert.deepEqual(session.inputNames, ['Input3']);
    const feeds = { Input3: new Tensor('float32', input, [1, 1, 28, 28]) }, [output] = session.outputNames;
    const { type, dims, data } = (await session.run(feeds))[output];
    assert.equal(type, 'float32');
    assert.deepEqual(dims, [1, 10]);
    compare(name, data, floatsOf(name, 'output_0'));
    await assert.rejects(session.run({ Input3: new Tensor('float32', input) }), { status: 'SHAPE', message: /\[784\], not \[1, 1, 28, 28\]/ });
    assert.throws(() => new Tensor('float32', input, [3]), { status: 'SHAPE' });
    await assert.rejects(InferenceSession.create(bytesOf(name), { executionProviders: ['cuda'] }), { status: 'INVALID_ARGUMENT' });
    await session.release();
    console.log('ok: InferenceSession');
}

// The passes and nodes of a network; inner tensors as outputs.
async function checkReport() {
    const first = await load(bytesOf('mnist_cntk')), report = await first.report();
    assert.equal(report.backend, 'cpu');
    assert.equal(report.nodes.reduce((sum, node) => sum + node.macs, 0), report.macs);
    const inner = report.nodes[0].output;
    const network = await load(bytesOf('mnist_cntk'), { extraOutputs: [inner] });
    assert.deepEqual(network.outputs.map(output => output.name), [first.outputs[0].name, inner]);
    const results = await network.run({ Input3: new Float32Array(784) });
    assert.equal(results[inner].length, report.nodes[0].shape.reduce((a, b) => a * b));
    await assert.rejects(load(bytesOf('mnist_cntk'), { extraOutputs: ['nothing'] }), { status: 'INVALID_ARGUMENT', message: /nothing/ });
    first.dispose();
    network.dispose();
    console.log('ok: a report, and an inner tensor');
}

// Functions of the page's, which may fail.
async function checkCustom() {
    const double = {
        name: 'Double', shape: ([[n]]) => [2 * n],
        compute([{ data }], y) {
            assert.deepEqual(y.dims, [2 * data.length]);
            y.data.set(data);
            y.data.set(data, data.length);
        },
    };
    const bytes = chain([3], ['Neg', 'Double']);
    const network = await load(bytes, { customOps: [double] });
    assert.deepEqual((await network.run({ x: Float32Array.of(1, 2, 3) })).y, Float32Array.of(-1, -2, -3, -1, -2, -3));
    network.dispose();
    const wrong = (change, message) => assert.rejects(load(bytes, { customOps: [{ ...double, ...change }] }), { message });
    await wrong({ shape: () => [-1] }, /Double.*its shape is \[-1\]/);
    await wrong({ shape: () => { throw new Error('I do not know'); } }, /Double: I do not know/);
    await wrong({ shape: 7 }, /function shape/);
    await wrong({ attributes: { gain: 'much' } }, /numbers/);
    await wrong({ inputs: [1, 9] }, /Double/);
    const failing = await load(bytes, { customOps: [{ ...double, compute: () => { throw new Error('not today'); } }] });
    await assert.rejects(failing.run({ x: new Float32Array(3) }), { message: /not today/ });
    failing.dispose();
    console.log('ok: custom operators');
}

// Networks do not share memory, and one that is made again and again frees what it had.
async function checkMany() {
    const name = 'mnist_cntk', input = floatsOf(name, 'input_0');
    const networks = await Promise.all([...Array(4)].map(() => load(bytesOf(name))));
    const run = network => network.run({ [network.inputs[0].name]: input });
    const [first, ...others] = await Promise.all(networks.map(run));
    others.forEach(other => assert.deepEqual(other, first));
    networks[0].dispose();
    assert.deepEqual(await run(networks[1]), first);
    networks.forEach(network => network.dispose());
    console.log('ok: four networks at a time');
}

// Where sizes have 32 bits: what fits runs, what does not is refused, whatever its size modulo 2^32.
async function checkSizes() {
    const many = await load(chain([1024, 1024], Array(400).fill('Relu')));
    const { y } = await many.run({ x: new Float32Array(1 << 20).fill(2) });
    assert.ok(y.length === 1 << 20 && y.every(v => v === 2));
    many.dispose();
    console.log('ok: 400 tensors of a million elements, two at a time');
    const named = await load(chain(['rows', 3], ['Neg']), { dims: { rows: 2 } });
    assert.deepEqual(named.inputs[0].shape, [2, 3]);
    assert.deepEqual((await named.run({ x: Float32Array.of(1, 2, 3, 4, 5, 6) })).y, Float32Array.of(-1, -2, -3, -4, -5, -6));
    named.dispose();
    console.log('ok: a named dimension');
    const refused = async (shape, nodes) => assert.rejects(load(model(shape, nodes)), error => {
        assert.match(error.message, /^model: .*(memory|too large)/); // no trap
        console.log(`ok: ${shape.join(' x ')}, ${nodes[0][0]}: ${error.message}`);
        return true;
    });
    for (const shape of [[65536, 65536], [65536, 65537], [1 << 20, 1 << 20, 1 << 20], [16384, 32768], [16384, 16384]]) {
        await refused(shape, [['Relu', 'x', ['y']]]);
        await refused(shape, [['Dropout', 'x', ['y', 'mask']], ['Identity', 'mask', ['m']]]);
    }
}

const known = ['mnist_cntk', 'resnet20_cifar10', 'mobilenet_v1_025_imagenet'].filter(name => existsSync(`${models}/${name}`));
for (const name of known.length ? known : readdirSync(models).filter(name => existsSync(`${models}/${name}/model.onnx`)))
    await checkNetwork(name);
if (known.includes('mnist_cntk')) {
    await checkErrors();
    await checkAlias();
    await checkReport();
    await checkMany();
}
await checkCustom();
await checkSmall();
await checkSizes();
console.log('all passed');
