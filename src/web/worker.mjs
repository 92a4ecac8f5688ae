// The thread of a network that was loaded with the option worker: what remote.mjs asks of it.
import { open } from './network.mjs';

let network;

const methods = {
    async open(bytes, name, options) {
        network = await open(bytes, name, {
            ...options,
            onProgress: progress => postMessage({ progress }),
            log: (...line) => postMessage({ line }),
        });
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
