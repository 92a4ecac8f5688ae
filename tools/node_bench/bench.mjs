// Measures the WebGPU build of pages in node, on npm's package webgpu (Dawn), whose newer features no library for C has yet.
// tools/web.sh node-bench has the options.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

process.on('uncaughtException', error => {
    console.error(`node-bench: ${error.message}`);
    process.exit(1);
});
const { values: options, positionals: files } = parseArgs({
    allowPositionals: true,
    options: {
        precision: { type: 'string', default: 'fp16' }, runs: { type: 'string', default: '60' },
        dim: { type: 'string', multiple: true, default: [] }, plain: { type: 'boolean', default: false },
        check: { type: 'boolean', default: false }, passes: { type: 'boolean', default: false },
        build: { type: 'string', default: '' }, packages: { type: 'string', default: '' },
    },
});
const runs = Number(options.runs);
const dims = Object.fromEntries(options.dim.map(text => text.split('=')).map(([name, n]) => [name, Number(n)]));
if (files.length !== 1 || !(runs >= 1))
    throw new Error('usage: tools/web.sh node-bench MODEL [OPTION...]; tools/web.sh --help has the options');
const bytes = readFileSync(files[0]);

const webgpu = await import(`${options.packages}/node_modules/webgpu/index.js`);
const { load } = await import(`${options.build}/tessera.mjs`);
Object.assign(globalThis, webgpu.globals);
const MATRICES = ['shader-f16', 'chromium-experimental-subgroup-matrix'], QUERIES = 4096;
const LIMITS = ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupStorageSize',
    'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX'];
// Global: they must outlive what they made. Without quantization timestamps are in nanoseconds.
globalThis.gpu = webgpu.create(['enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia',
    'disable-dawn-features=timestamp_quantization']);
Object.defineProperty(globalThis, 'navigator', { value: { gpu } });
const adapter = globalThis.adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
if (!adapter)
    throw new Error('WebGPU finds no GPU');
const device = globalThis.device = await adapter.requestDevice({
    requiredFeatures: ['timestamp-query', ...options.plain ? [] : MATRICES].filter(name => adapter.features.has(name)),
    requiredLimits: Object.fromEntries(LIMITS.map(name => [name, adapter.limits[name]])),
});
Object.defineProperty(device, 'adapterInfo', { value: adapter.info }); // Dawn's lacks what matrix units can do

// ---- times by the GPU's clock ---------------------------------------------------------------------

const timed = device.features.has('timestamp-query');
const querySet = timed && device.createQuerySet({ type: 'timestamp', count: QUERIES });
const resolved = device.createBuffer({ size: 8 * QUERIES, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
const readable = device.createBuffer({ size: 8 * QUERIES, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
const createCommandEncoder = device.createCommandEncoder.bind(device);
let queries = -1; // made so far; -1: nothing is measured

// A pass of each dispatch's own, for --passes: slower as a whole.
function passOf(begin) {
    let pipeline, group;
    return {
        setPipeline(value) { pipeline = value; },
        setBindGroup(index, value) { group = value; },
        dispatchWorkgroups(...counts) {
            const pass = begin();
            pass.setPipeline(pipeline);
            pass.setBindGroup(0, group);
            pass.dispatchWorkgroups(...counts);
            pass.end();
        },
        end() {},
    };
}

device.createCommandEncoder = (...values) => {
    const encoder = createCommandEncoder(...values), beginComputePass = encoder.beginComputePass.bind(encoder);
    encoder.beginComputePass = descriptor => {
        const begin = () => beginComputePass({ ...descriptor, timestampWrites: queries < 0 || queries + 2 > QUERIES ? undefined
            : { querySet, beginningOfPassWriteIndex: queries++, endOfPassWriteIndex: queries++ } });
        return options.passes && queries >= 0 ? passOf(begin) : begin();
    };
    return encoder;
};

// Milliseconds of each compute pass of fn().
async function timePasses(fn) {
    queries = 0;
    await fn();
    const count = queries, encoder = createCommandEncoder();
    queries = -1;
    encoder.resolveQuerySet(querySet, 0, count, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, readable, 0, 8 * count);
    device.queue.submit([encoder.finish()]);
    await readable.mapAsync(GPUMapMode.READ);
    const times = new BigUint64Array(readable.getMappedRange().slice(0, 8 * count));
    readable.unmap();
    return Array.from({ length: count / 2 }, (_, i) => Number(times[2 * i + 1] - times[2 * i]) / 1e6);
}

// ---- the model ------------------------------------------------------------------------------------

const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];
const common = { name: basename(files[0]), dims };
const network = await load(bytes, { ...common, backend: 'webgpu', precision: options.precision, gpuDevice: device });
const inputs = Object.fromEntries(network.inputs.map(({ name, shape }) =>
    [name, Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.random())]));
const { passes, nodes } = await network.report(), times = [], gpuTimes = [];
let result;
for (let i = 0; i < 10 + runs; i++) {
    const start = performance.now();
    result = await network.run(inputs);
    if (i >= 10)
        times.push(performance.now() - start);
}
if (timed)
    for (let i = 0; i < Math.min(runs, 30); i++)
        gpuTimes.push(await timePasses(() => network.run(inputs)));
const sum = list => list.reduce((a, b) => a + b, 0);
const { vendor, architecture, description } = adapter.info;
const matrices = MATRICES.every(name => device.features.has(name));
console.log(`device     ${[vendor, architecture, description].filter(Boolean).join(', ')}; ${matrices ? '' : 'no '}matrix units`);
console.log(`model      ${common.name}, ${options.precision}: ${passes} passes`);
console.log(`caller     ${median(times).toFixed(3)} ms, median of ${runs} runs with upload and readback`);
if (gpuTimes.length)
    console.log(`GPU        ${median(gpuTimes.map(sum)).toFixed(3)} ms, median of ${gpuTimes.length} runs`);
if (options.passes && gpuTimes.length) {
    const names = ['inputs', ...nodes.flatMap(node => Array.from({ length: node.passes }, () => `${node.name} (${node.kernel})`))];
    gpuTimes[0].forEach((_, i) =>
        console.log(`${median(gpuTimes.map(list => list[i])).toFixed(4).padStart(10)} ms  ${names[i] ?? 'outputs'}`));
}
if (options.check) {
    const cpu = await load(bytes, { ...common, backend: 'cpu' }), expected = await cpu.run(inputs);
    for (const [name, values] of Object.entries(expected)) {
        const error = values.reduce((most, v, i) => Math.max(most, Math.abs(v - result[name][i])), 0);
        console.log(`off by     ${error} from the CPU's ${name}`);
    }
}
process.exit(0); // Dawn's threads would go on
