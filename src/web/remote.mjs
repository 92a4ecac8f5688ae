// A network in a worker, whose thread it has to itself (worker.mjs), with the functions of one in this thread.
import { TesseraError, fail } from './module.mjs';
import { isPicture } from './pictures.mjs';

// What messages can carry: elements and pictures that have no place in the page.
async function carry(value) {
    if (ArrayBuffer.isView(value))
        return value.slice();
    if (value?.picture)
        return { ...value, picture: await carry(value.picture) };
    const carried = !isPicture(value) || ['ImageData', 'ImageBitmap', 'VideoFrame'].some(name => value instanceof (globalThis[name] ?? Array));
    return carried ? value : createImageBitmap(value);
}

async function carryAll(inputs) {
    return Object.fromEntries(await Promise.all(Object.entries(inputs).map(async ([name, value]) => [name, await carry(value)])));
}

const absolute = source => (typeof source === 'string' || source instanceof URL
    ? new URL(source, globalThis.document?.baseURI ?? globalThis.location?.href).href : source);

export async function openInWorker(model, name, { worker, signal, onProgress, log, ...options }) {
    model.catch(() => {}); // if it is not awaited
    if (!globalThis.Worker)
        fail('UNSUPPORTED', 'there are no workers here');
    if (options.gl || options.gpuDevice)
        fail('INVALID_ARGUMENT', "a worker cannot use the page's gl or gpuDevice");
    if (options.customOps?.length)
        fail('INVALID_ARGUMENT', 'a worker cannot call functions of customOps');
    const thread = new Worker(new URL('./worker.mjs', import.meta.url), { type: 'module' }), calls = new Map();
    let last = 0, ended, cancelled; // what calls after the end, and those before it, fail with
    const end = (error, ofCalls = error) => {
        ended ??= error;
        cancelled ??= ofCalls;
        thread.terminate();
        for (const { reject } of calls.values())
            reject(cancelled);
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
    // In the order of the calls, whatever becomes of their pictures first.
    let posted = Promise.resolve();
    const inTurn = async (inputs, post) => {
        if (ended)
            throw ended;
        const carried = carryAll(inputs), before = posted;
        const sent = Promise.allSettled([before, carried]).then(async () => {
            if (ended)
                throw cancelled;
            return { answer: post(await carried) };
        });
        posted = sent.catch(() => {});
        return (await sent).answer;
    };
    const abort = () => end(new TesseraError('CANCELLED', `${name}: the loading was aborted`));
    signal?.addEventListener('abort', abort);
    const opened = await (async () => {
        const settings = { ...options, wasm: absolute(options.wasm) }, begun = ask('begin', [name, settings]);
        begun.catch(() => {}); // so does what follows
        return ask('open', [await model]);
    })().catch(error => { end(error); throw error; });
    signal?.removeEventListener('abort', abort);
    return {
        ...opened,
        run: (inputs = {}, settings) => inTurn(inputs, carried => ask('run', [carried, settings])),
        draw: (inputs, width, height, settings) => inTurn(inputs, carried => ask('draw', [carried, width, height, settings])),
        report: () => ask('report', []),
        dispose: () => end(new TesseraError('INVALID_ARGUMENT', `${name}: the network was disposed of`),
            new TesseraError('CANCELLED', `${name}: the network was disposed of during the run`)),
    };
}
