// A network in a worker, whose thread it has to itself (worker.mjs), with the functions of one in this thread.
import { TesseraError, fail } from './module.mjs';
import { isPicture } from './pictures.mjs';

// What messages can carry: elements and pictures that have no place in the page.
async function carry(value) {
    if (value?.picture)
        return { ...value, picture: await carry(value.picture) };
    const carried = !isPicture(value) || ['ImageData', 'ImageBitmap', 'VideoFrame'].some(name => value instanceof (globalThis[name] ?? Array));
    return carried ? value : createImageBitmap(value);
}

async function carryAll(inputs) {
    return Object.fromEntries(await Promise.all(Object.entries(inputs).map(async ([name, value]) => [name, await carry(value)])));
}

export async function openInWorker(bytes, name, { worker, signal, onProgress, log, ...options }) {
    if (!globalThis.Worker)
        fail('UNSUPPORTED', 'there are no workers here');
    if (options.gl || options.gpuDevice)
        fail('INVALID_ARGUMENT', "a worker cannot use the page's gl or gpuDevice");
    if (options.customOps?.length)
        fail('INVALID_ARGUMENT', 'a worker cannot call functions of customOps');
    const thread = new Worker(new URL('./worker.mjs', import.meta.url), { type: 'module' }), calls = new Map();
    let last = 0, ended;
    const end = error => {
        ended ??= error;
        thread.terminate();
        for (const { reject } of calls.values())
            reject(ended);
        calls.clear();
    };
    thread.onmessage = ({ data: { call, result, error, progress, line } }) => {
        if (progress)
            onProgress?.(progress);
        else if (line)
            log?.(...line);
        else if (error)
            calls.get(call)?.reject(new TesseraError(error.status, error.message));
        else
            calls.get(call)?.resolve(result);
        calls.delete(call);
    };
    thread.onerror = event => end(new TesseraError('DEVICE', `the worker failed: ${event.message ?? 'its script cannot be loaded'}`));
    const ask = (method, values, transfer = []) => new Promise((resolve, reject) => {
        if (ended) {
            reject(ended);
            return;
        }
        calls.set(++last, { resolve, reject });
        thread.postMessage({ call: last, method, values }, transfer);
    });
    const abort = () => end(new TesseraError('CANCELLED', `${name}: the loading was aborted`));
    signal?.addEventListener('abort', abort);
    const opened = await ask('open', [bytes, name, { ...options, wasm: options.wasm instanceof URL ? options.wasm.href : options.wasm }])
        .catch(error => { end(error); throw error; });
    signal?.removeEventListener('abort', abort);
    return {
        ...opened,
        run: async (inputs = {}, settings) => ask('run', [await carryAll(inputs), settings]),
        draw: async (inputs, width, height, settings) => ask('draw', [await carryAll(inputs), width, height, settings]),
        report: () => ask('report', []),
        dispose: () => end(new TesseraError('INVALID_ARGUMENT', `${name}: the network was disposed of`)),
    };
}
