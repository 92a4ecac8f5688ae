// Makes a network of a model's bytes: on which device and with which module, in tasks of a few ms.
import { release as releaseOperators, withOperators } from './custom.mjs';
import { acquire, release, retire } from './device.mjs';
import { FULL, fail } from './module.mjs';
import { Network } from './network.mjs';
import { hop, sleep } from './tasks.mjs';

const STEP_MS = 4; // of preparing, between which the page does other things
const MAX_RANK = 8;
const HALF = 1, TEXTURE_OUTPUTS = 2; // flags of tsr_web_session()
const WEIGHTS = ['auto', 'fp32', 'fp16', 'int8', 'int4']; // in the order of tsr_weight_type

const isSize = value => Number.isInteger(value) && value >= 0 && value < 2 ** 31;

function checkSizes(what, sizes) {
    if (!Array.isArray(sizes) || sizes.length > MAX_RANK || !sizes.every(isSize))
        fail('INVALID_ARGUMENT', `${what} is no list of at most ${MAX_RANK} sizes: ${JSON.stringify(sizes)}`);
}

/** Fails if what tsr_web_session() gets is of no use, before anything is loaded. */
export function checkOptions({ dims = {}, shapes = {}, precision = 'fp32', weights = 'auto' }) {
    if (precision !== 'fp32' && precision !== 'fp16')
        fail('INVALID_ARGUMENT', `precision is '${precision}': 'fp32' or 'fp16'`);
    if (!WEIGHTS.includes(weights))
        fail('INVALID_ARGUMENT', `weights is '${weights}', which is none of ${WEIGHTS.join(', ')}`);
    for (const [name, size] of Object.entries(dims))
        checkSizes(`the size of dimension '${name}'`, [size]);
    for (const [name, shape] of Object.entries(shapes))
        checkSizes(`the shape of input '${name}'`, shape);
}

/** See tsr_web_session(). */
function makeSession(device, model, { dims = {}, shapes = {}, extraOutputs = [], precision = 'fp32', weights = 'auto',
                                      textureOutputs = false }) {
    const { wasm, handle } = device;
    const names = [...Object.keys(dims), ...Object.keys(shapes), ...extraOutputs].map(name => `${name}\0`).join('');
    const numbers = Int32Array.from([...Object.values(dims), ...Object.values(shapes).flatMap(shape => [shape.length, ...shape])]);
    const counts = Int32Array.of(Object.keys(dims).length, Object.keys(shapes).length, extraOutputs.length);
    const flags = (precision === 'fp16' ? HALF : 0) + (textureOutputs ? TEXTURE_OUTPUTS : 0);
    return wasm.made(wasm.spell(names, n => wasm.lend(numbers, m => wasm.lend(counts, c =>
        wasm.call('tsr_web_session', handle, model, flags, WEIGHTS.indexOf(weights), n, m, c)))));
}

// The page is free between steps.
async function prepare({ wasm }, session, signal, tell) {
    for (;;) {
        const begin = performance.now();
        if (wasm.done(wasm.call('tsr_web_prepare', session, STEP_MS)))
            return;
        tell('prepare', wasm.progress());
        await (performance.now() - begin < STEP_MS / 2 ? sleep() : hop());
        signal?.throwIfAborted();
    }
}

async function openWith(backend, bytes, name, options) {
    const { signal, log, onProgress } = options, tell = (stage, fraction) => onProgress?.({ stage, fraction });
    const device = await acquire(backend, options), { wasm } = device;
    let model, session, operators = [], file; // file: where it is, until it is read
    const rest = async () => {
        await hop();
        signal?.throwIfAborted();
    };
    try {
        tell('read', 0);
        file = await wasm.copyFile(bytes, rest);
        ({ model, numbers: operators } = withOperators(wasm, options.customOps ?? [], () => {
            const at = file;
            file = undefined;
            return wasm.readModel(at, bytes.length, name);
        }));
        await rest();
        while (!wasm.done(wasm.call('tsr_web_widen', model, STEP_MS)))
            await rest();
        session = makeSession(device, model, options);
        wasm.gl.forgetErrors();
        wasm.call('tsr_web_model_free', model); // the session has what it needs
        model = undefined;
        tell('read', 1);
        await prepare(device, session, signal, tell);
        tell('prepare', 1);
        return new Network(device, session, name, log, operators);
    } catch (error) {
        if (error.status === 'DEVICE_LOST')
            retire(device);
        if (file && !wasm.isBroken())
            wasm.call('free', file);
        if (model && !wasm.isBroken())
            wasm.call('tsr_web_model_free', model);
        if (session && !wasm.isBroken())
            wasm.call('tsr_web_session_free', session);
        releaseOperators(operators);
        release(device, log);
        throw error;
    }
}

// Errors that are no model's.
const OF_DEVICES = ['NO_DEVICE', 'DEVICE', 'DEVICE_LOST', 'IO'];

// Small modules refuse what they lack, and have no texts of why they refuse a model: the full one may take it, or says that.
async function openOn(backend, bytes, name, options) {
    try {
        return await openWith(backend, bytes, name, options);
    } catch (error) {
        if (options.wasm || options.signal?.aborted || !error.status || OF_DEVICES.includes(error.status))
            throw error;
    }
    return openWith(backend, bytes, name, { ...options, wasm: FULL }).catch(error => (error.status === 'IO'
        ? fail('IO', `${name} needs tessera.wasm: ${error.message}`, error) : Promise.reject(error)));
}

// Those that may be there, the best first. A software rasteriser runs WebGL better than WebGPU.
function candidates({ gl, gpuDevice }) {
    const draws = globalThis.OffscreenCanvas ?? globalThis.document, computes = globalThis.navigator?.gpu;
    if (gl || gpuDevice)
        return [gl ? 'webgl' : 'webgpu'];
    return [...computes ? ['webgpu'] : [], ...draws ? ['webgl'] : [], 'cpu'];
}

const MAY_RUN_ELSEWHERE = ['NO_DEVICE', 'UNSUPPORTED', 'LIMIT', 'DEVICE', 'OUT_OF_MEMORY'];

async function openOnFirst(backends, bytes, name, options) {
    const reasons = [];
    for (const backend of backends)
        try {
            return await openOn(backend, bytes, name, options);
        } catch (error) {
            if (!MAY_RUN_ELSEWHERE.includes(error.status) || backends.length === 1)
                throw error;
            reasons.push(`${backend}: ${error.message}`);
        }
    return fail('UNSUPPORTED', reasons.join('; '));
}

// The first device that opens, while the model is on its way. What fails fails again.
async function acquireFirst(backends, options) {
    for (const backend of backends) {
        const device = await acquire(backend, options).catch(() => {});
        if (device)
            return device;
    }
    return undefined;
}

/** Of the promise of a file's bytes; the device opens meanwhile. 'auto': on the first backend that takes it. */
export async function open(model, name, { backend = 'auto', ...given }) {
    const auto = backend === 'auto', options = { ...given, hardware: auto }, backends = auto ? candidates(options) : [backend];
    const early = acquireFirst(backends, options);
    let ended = options.log; // no network has it
    try {
        const network = await openOnFirst(backends, await model, name, options);
        ended = undefined;
        return network;
    } finally {
        early.then(device => device && release(device, ended));
    }
}
