// Networks in 8 bits (`tessera convert --quantize static`) against ONNX Runtime, layer by layer. A layer reaches from quantized
// tensors to the next one, or to an output. ONNX Runtime computes the file without its optimizations; then our backends compute each
// layer from the inputs that it had there, so that no difference is carried on: none may be above one step, and at most 0.1 % of a
// network's elements may differ, as those do that are half way between two steps but for rounding. An output of floats has steps of
// 1/255 of its range. For comparison the same of ONNX Runtime with its optimizations, which computes in integers, and how much outputs
// differ where the whole network is run.
// Usage: node check_quantized_ort.mjs [BUILD [BACKEND,.. [NETWORK..]]], by default build-dev cpu,gles,webgpu and all networks of
// TSR_MODELS, which take six minutes. tools/get-npm.sh does not fetch ONNX Runtime, which is large:
//   npm install --ignore-scripts --prefix build-ort onnxruntime-node@1.30.0 && export NODE_PATH=$PWD/build-ort/node_modules
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { models, root } from './support/browsers.mjs';
import { readNpy, shapeOfNpy, writeNpy } from './support/npy.mjs';
import { cutBehind, interfaceOf, quantizedTensors, withQuantizedOutputs } from './support/onnx_cut.mjs';

const MOST_STEPS = 1, MOST_DIFFERING = 0.001; // share of a network's elements
const optimized = 'ONNX Runtime, optimized';
const ort = createRequire(import.meta.url)('onnxruntime-node');
const [build = `${root}/build-dev`, list = 'cpu,gles,webgpu', ...chosen] = process.argv.slice(2);
const backends = list.split(','), tool = resolve(build, 'tessera'), folder = mkdtempSync(join(tmpdir(), 'quantized-'));
const index = JSON.parse(readFileSync(`${models}/index.json`));
process.on('exit', () => rmSync(folder, { recursive: true }));

async function runOrt(model, feeds, graphOptimizationLevel) {
    const session = await ort.InferenceSession.create(model,
        { graphOptimizationLevel, executionProviders: ['cpu'], intraOpNumThreads: 1, logSeverityLevel: 3 });
    const tensors = Object.entries(feeds).map(([name, { dims, data }]) => [name, new ort.Tensor('float32', data, dims)]);
    const found = await session.run(Object.fromEntries(tensors));
    await session.release();
    return found;
}

// The outputs of these names, of a file.
function runTessera(backend, model, feeds, names) {
    const inputs = Object.entries(feeds).flatMap(([name, { dims, data }], i) => {
        writeFileSync(`${folder}/input_${i}.npy`, writeNpy(dims, data));
        return ['-i', `${name}=${folder}/input_${i}.npy`];
    });
    const outputs = names.flatMap((name, i) => ['-o', `${name}=${folder}/output_${i}.npy`]);
    execFileSync(tool, ['run', model, '--backend', backend, ...inputs, ...outputs], { stdio: ['ignore', 'ignore', 'inherit'] });
    return Object.fromEntries(names.map((name, i) => [name, { data: readNpy(readFileSync(`${folder}/output_${i}.npy`)) }]));
}

// Elements that differ, floats by a hundredth of a step at least, and the largest difference in steps.
function difference({ data: found }, { type, data: expected }) {
    if (found.length !== expected.length)
        throw new Error(`${found.length} elements instead of ${expected.length}`);
    const range = expected.reduce((a, b) => Math.max(a, b)) - expected.reduce((a, b) => Math.min(a, b));
    const step = type === 'float32' ? (range || 1) / 255 : 1;
    const made = { differing: 0, steps: 0, elements: expected.length };
    expected.forEach((x, i) => {
        const steps = Math.abs(found[i] - x) / step;
        made.differing += Number(!(steps < 0.01));
        made.steps = Math.max(made.steps, Number.isNaN(steps) ? Infinity : steps);
    });
    return made;
}

const number = x => (Number.isInteger(x) ? `${x}` : x >= 9.5 ? x.toFixed(0) : x >= 0.01 ? x.toPrecision(2) : x.toExponential(0));
const sum = (list, key) => list.reduce((total, one) => total + one[key], 0);
const most = (list, key) => list.reduce((largest, one) => Math.max(largest, one[key]), 0);

// The converted file, calibrated with pictures: few where a run takes long.
function quantize(name) {
    const stored = `${models}/${name}`, pictures = `${folder}/${name}`, file = `${folder}/${name}.onnx`;
    const count = index[name].macs > 5e9 ? 2 : 8, quiet = { stdio: ['ignore', 'ignore', 'inherit'] };
    execFileSync('node', [`${root}/tests/make_pictures.mjs`, `${stored}/input_0.npy`, String(count), '1', pictures], quiet);
    execFileSync(tool,
        ['convert', `${stored}/model.onnx`, '-o', file, '--quantize', 'static', '--calibrate', pictures, '--no-measure'], quiet);
    return file;
}

// What a backend makes of the layers: a cell of the table, and whether it is good enough; the layers that are not are told.
function judge(network, backend, layers, found, expected) {
    const made = layers.map(({ name, ops }) => ({ name, ops, ...difference(found[name], expected[name]) }));
    const differing = sum(made, 'differing'), share = differing / sum(made, 'elements'), steps = most(made, 'steps');
    const good = steps <= MOST_STEPS && share <= MOST_DIFFERING;
    for (const layer of made)
        if (!good && (layer.steps > MOST_STEPS || layer.differing > MOST_DIFFERING * layer.elements))
            console.error(`${network}, ${backend}: ${layer.name} (${layer.ops}): ` +
                `${layer.differing} of ${layer.elements} elements differ, by ${number(layer.steps)} steps at most`);
    return { good, cell: `${differing} (${(100 * share).toPrecision(2)} %), ${number(steps)}` };
}

async function checkNetwork(network) {
    const file = quantize(network), model = readFileSync(file), tensors = quantizedTensors(model), { inputs, outputs } = interfaceOf(model);
    const picture = readFileSync(`${models}/${network}/input_0.npy`);
    const feeds = { [inputs[0]]: { dims: shapeOfNpy(picture), data: readNpy(picture) } };
    const expected = await runOrt(withQuantizedOutputs(model, tensors), feeds, 'disabled');

    const cut = cutBehind(model, tensors, tensors.map(({ name }) => expected[name].dims)), cutFile = `${folder}/cut.onnx`;
    writeFileSync(cutFile, cut);
    const cutFeeds = { ...feeds, ...Object.fromEntries(tensors.map(({ floats }, i) => [`cut.${i}`, expected[floats]])) };
    const layers = [...tensors, ...outputs.map(name => ({ name, ops: ['to an output'] }))], names = layers.map(({ name }) => name);

    const made = backends.map(backend =>
        [backend, runTessera(backend, cutFile, cutFeeds, names), runTessera(backend, file, feeds, outputs)]);
    made.push([optimized, await runOrt(cut, cutFeeds, 'all'), await runOrt(model, feeds, 'all')]);
    const judged = made.map(([backend, found]) => judge(network, backend, layers, found, expected));
    const ends = made.map(([, , found]) => number(most(outputs.map(name => difference(found[name], expected[name])), 'steps')));
    const elements = names.reduce((total, name) => total + expected[name].data.length, 0);
    console.log(`| ${[network, layers.length, elements, ...judged.map(({ cell }) => cell), ...ends].join(' | ')} |`);
    return judged.slice(0, backends.length).every(({ good }) => good); // not ONNX Runtime's own
}

const columns = [...backends, optimized], failed = [];
console.log(`Elements that differ, their share, and by how many steps at most; steps of the outputs of whole networks

| network | layers | elements | ${columns.join(' | ')} | ${columns.map(column => `whole, ${column}`).join(' | ')} |
|${'---|'.repeat(3 + 2 * columns.length)}`);
for (const network of chosen.length ? chosen : Object.keys(index))
    if (!await checkNetwork(network))
        failed.push(network);
console.log(failed.length ? `failed: ${failed.join(', ')}` : '');
process.exit(failed.length ? 1 : 0);
