// The thread of a network that was loaded with the option worker: what remote.mjs asks of it.
import { open } from './open.mjs';

let network, opening, giveModel; // the promise of a network, and what resolves that of its model

const methods = {
    begin(name, options) {
        opening = open(new Promise(resolve => { giveModel = resolve; }), name, {
            ...options,
            onProgress: progress => postMessage({ progress }),
            log: (...line) => postMessage({ line }),
        });
        return {};
    },
    async open(bytes) {
        giveModel(bytes);
        network = await opening;
        const { backend, inputs, outputs } = network;
        return { backend, inputs, outputs };
    },
    run: (...values) => network.run(...values),
    draw: (...values) => network.draw(...values),
    report: () => network.report(),
};

// Their memory is moved, not copied.
const movable = result => (globalThis.ImageBitmap && result instanceof ImageBitmap ? [result]
    : Object.values(result).filter(value => value instanceof Float32Array).map(value => value.buffer));

globalThis.onmessage = async ({ data: { call, method, values } }) => {
    try {
        const result = await methods[method](...values);
        postMessage({ call, result }, movable(result));
    } catch (error) {
        postMessage({ call, error: { status: error.status ?? 'DEVICE', message: error.message } });
    }
};
