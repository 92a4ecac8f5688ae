// ONNX Runtime's own WebGPU provider, which npm's onnxruntime-node has, behind the lines of `tessera bench --serve`: a run for each.
// Usage: node ort.mjs FOLDER MODEL; npm installed the package in the folder.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { randomInputs } from '../../demos/web/measuring.mjs';

const [, , folder, model] = process.argv;
let session, feeds, version;

async function begin() {
    const ort = createRequire(`${folder}/`)('onnxruntime-node'), bytes = readFileSync(model);
    version = ort.env.versions.common;
    session = await ort.InferenceSession.create(model, { executionProviders: ['webgpu'] });
    feeds = Object.fromEntries(Object.entries(randomInputs(bytes)).map(([name, { data, shape }]) =>
        [name, new ort.Tensor('float32', data, shape)]));
}

async function run() {
    const start = performance.now(), results = await session.run(feeds);
    await Promise.all(session.outputNames.map(name => results[name].getData()));
    return performance.now() - start;
}

for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'begin')
        await begin();
    const ms = await run();
    console.log(line === 'begin' ? `0 0 0 webgpu: ONNX Runtime ${version}` : ms);
}
