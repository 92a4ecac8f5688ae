// Convolutions on matrix units, which no driver here has: support/subgroup_matrix.mjs computes what they would. Random layers in
// 16 bits, beside the other kernels and the CPU; Dawn for node compiles their programs as they are.
// Usage: node web_subgroup_matrix.mjs [COUNT [SEED]], after tools/web.sh build.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { root, withPage } from './support/browsers.mjs';
import { isKernel } from './support/subgroup_matrix.mjs';

const dawn = `${root}/build-web/node-webgpu/node_modules/webgpu/index.js`; // tools/get-npm.sh build-web/node-webgpu tools/node_bench
const [count = 12, seed = Date.now() % 100000] = process.argv.slice(2).map(Number);

// In the page: '' or what is wrong with a random layer, and how many of its programs use matrix units.
async function tryLayer(seed) {
    const { load } = await import('/web/tessera.mjs');
    const { bytes, int, string } = await import('/support/onnx_model.mjs');
    const { isKernel, withSubgroupMatrix } = await import('/support/subgroup_matrix.mjs');
    let state = seed;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647; // Park and Miller
    const pick = (least, most) => least + Math.floor(random() * (most - least + 1));
    const floats = n => Float32Array.from({ length: n }, () => random() * 2 - 1);
    for (let i = 0; i < 5; i++)
        random();

    const transposed = random() < 0.5, group = transposed || random() < 0.7 ? 1 : 2, per = group === 1 ? 1 : 4;
    // Every second layer: taps of a multiple of eight tiles, which are read in another way.
    const inputs = seed % 2 ? 32 * pick(1, 2) * group : pick(1, 40) * per, outputs = pick(1, 150) * per, batch = pick(1, 2), size = [pick(1, 19), pick(6, 23)];
    const kernel = [pick(1, 4), pick(1, 4)], stride = kernel.map(k => pick(1, Math.min(k, 3)));
    const dilation = kernel.map(() => (transposed ? 1 : pick(1, 2))), pad = kernel.map(k => pick(0, k - 1));
    const extent = kernel.map((k, i) => (k - 1) * dilation[i] + 1);
    const out = size.map((n, i) => (transposed ? (n - 1) * stride[i] + extent[i] - 2 * pad[i]
        : Math.floor((n + 2 * pad[i] - extent[i]) / stride[i]) + 1));
    if (out.some(n => n < 1))
        return { why: '', programs: [] };
    const what = JSON.stringify({ seed, transposed, group, inputs, outputs, batch, size, kernel, stride, dilation, pad });

    const shape = list => bytes(2, bytes(1, [...int(1, 1), ...bytes(2, list.flatMap(n => bytes(1, int(1, n))))]));
    const constant = (name, dims) => bytes(5, [...dims.flatMap(n => int(1, n)), ...int(2, 1), ...string(8, name),
        ...bytes(9, [...new Uint8Array(floats(dims.reduce((a, b) => a * b)).buffer)])]);
    const ints = (name, list) => bytes(5, [...string(1, name), ...list.flatMap(n => int(8, n)), ...int(20, 7)]);
    const node = bytes(1, [...['x', 'w', 'b'].flatMap(name => string(1, name)), ...string(2, 'y'),
        ...string(4, transposed ? 'ConvTranspose' : 'Conv'), ...ints('strides', stride), ...ints('dilations', dilation),
        ...ints('pads', [...pad, ...pad]), ...bytes(5, [...string(1, 'group'), ...int(3, group), ...int(20, 2)])]);
    const weights = transposed ? [inputs, outputs] : [outputs, inputs / group];
    const graph = [...node, ...string(2, 'g'), ...constant('w', [...weights, ...kernel]), ...constant('b', [outputs]),
        ...bytes(11, [...string(1, 'x'), ...shape([batch, inputs, ...size])]), ...bytes(12, [...string(1, 'y'), ...shape([batch, outputs, ...out])])];
    const model = new Uint8Array([...int(1, 7), ...bytes(8, int(2, 13)), ...bytes(7, graph)]);

    const adapter = await navigator.gpu.requestAdapter(), device = await adapter.requestDevice({
        requiredLimits: { maxComputeWorkgroupStorageSize: adapter.limits.maxComputeWorkgroupStorageSize } });
    const x = floats(batch * inputs * size[0] * size[1]), programs = [], others = [], results = [];
    for (const options of [{ backend: 'cpu' }, { backend: 'webgpu', gpuDevice: device },
        { backend: 'webgpu', gpuDevice: withSubgroupMatrix(device, code => programs.push(code)) }]) {
        const network = await load(model, { precision: 'fp16', ...options });
        results.push((await network.run({ x })).y);
        network.dispose();
    }
    // What is not stored in 16 bits needs other kernels.
    for (const options of [{ precision: 'fp32' }, { precision: 'fp16', weights: 'fp32' }])
        (await load(model, { backend: 'webgpu', ...options, gpuDevice: withSubgroupMatrix(device, code => others.push(code)) })).dispose();
    device.destroy();
    const [cpu, other, matrices] = results, most = cpu.reduce((m, v) => Math.max(m, Math.abs(v)), 1);
    const error = (a, b) => a.reduce((m, v, i) => Math.max(m, Math.abs(v - b[i]) || (v === b[i] ? 0 : Infinity)), 0) / most;
    const beside = error(matrices, other), exact = error(matrices, cpu);
    // An element in 16 bits is off by 2^-11 of itself; factors, too, whose errors are random.
    if (others.some(isKernel))
        return { why: `${what}: matrix units for other types`, programs };
    return { why: beside <= 2 ** -10 && exact <= 2 ** -9 ? '' : `${what}: off by ${beside} and ${exact}`, programs };
}

// On Dawn's null backend, which has all features and runs nothing. Not even warnings: what is deprecated goes one day.
async function compile(programs) {
    const gpu = globalThis.gpu = (await import(dawn)).create(['backend=null', 'enable-dawn-features=allow_unsafe_apis']); // global: not collected
    const device = globalThis.device = await (await gpu.requestAdapter()).requestDevice({
        requiredFeatures: ['shader-f16', 'chromium-experimental-subgroup-matrix'] });
    for (const code of programs) {
        device.pushErrorScope('validation');
        const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
        assert.equal([...messages].map(({ message }) => message).join('\n') || (await device.popErrorScope())?.message, undefined, code);
    }
    console.log(`Dawn has compiled ${programs.size} programs`);
}

await withPage('swiftshader', { '/web/': `${root}/build-web` }, async page => {
    let used = 0, failed = 0, oneTap = 0;
    const all = new Set();
    for (let i = 0; i < count; i++) {
        const { why, programs } = await page.evaluate(tryLayer, seed + i * 7919).catch(error => ({ why: error.message, programs: [] }));
        used += programs.some(isKernel);
        oneTap += programs.some(code => isKernel(code) && /\bONE_TAP: i32 = 1;/.test(code));
        programs.forEach(code => all.add(code));
        failed += why !== '';
        if (why)
            console.log(`FAIL: ${why}`);
    }
    console.log(`${count} layers from seed ${seed}, ${used} of them on matrix units (${oneTap} by whole taps), ${failed} failed`);
    assert.equal(failed, 0);
    assert.ok(count < 12 || (used > count / 4 && oneTap > 0 && oneTap < used), 'not all kernels for matrix units were chosen');
    if (existsSync(dawn))
        await compile(all);
    else
        console.log('lacking: Dawn for node, which compiles programs for matrix units');
});
