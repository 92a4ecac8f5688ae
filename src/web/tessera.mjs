// Runs ONNX networks in browsers and in node. tessera.d.ts describes everything.
//
//     import { load } from './tessera.mjs';
//     const network = await load('net.onnx');
//     const { y } = await network.run({ x: new Float32Array(3 * 224 * 224) });
//     network.dispose();
import { isTexture } from './buffers.mjs';
import { download } from './delivery.mjs';
import { TesseraError, fail, isFile, readFile } from './module.mjs';
import { checkOptions, open } from './open.mjs';
import { show } from './pictures.mjs';
import { openInWorker } from './remote.mjs';

export { InferenceSession, Tensor } from './ort.mjs';
export { version } from './version.mjs'; // which tools/web.sh writes
export { TesseraError };

async function fetchModel(source, signal, tell) {
    if (isFile(source))
        return readFile(source);
    return download(new URL(source, globalThis.document?.baseURI ?? globalThis.location?.href), signal, fraction => tell('download', fraction));
}

function bytesOf(model) {
    if (ArrayBuffer.isView(model))
        return new Uint8Array(model.buffer, model.byteOffset, model.byteLength);
    if (Object.prototype.toString.call(model) === '[object ArrayBuffer]')
        return new Uint8Array(model);
    return fail('INVALID_ARGUMENT', 'load: the model is no URL, no ArrayBuffer and no view of one');
}

// What servers and repositories give in place of a model.
function checkModel(bytes, name) {
    const begin = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
    if (begin.startsWith('version https://git-lfs'))
        fail('INVALID_MODEL', `${name}: this is a pointer of Git LFS, not the model: fetch it with git lfs pull`);
    if (/^<(!doctype|html|\?xml)/i.test(begin))
        fail('INVALID_MODEL', `${name}: this is a page, not a model: is the URL right?`);
}

// As the network's, of one that may be in a worker.
function face(network) {
    const { backend, inputs, outputs } = network, dispose = () => network.dispose();
    return Object.freeze({
        backend, inputs, outputs, dispose,
        run: (values, options) => network.run(values, options),
        async render(values, canvas, options) {
            if (isTexture(canvas) && network.drawInto)
                await network.drawInto(values, canvas, options);
            else
                show(await network.draw(values, canvas.width, canvas.height, options), canvas);
        },
        outputTexture: output => network.outputTexture?.(output) ??
            fail('INVALID_ARGUMENT', 'a worker has no textures of the page'),
        outputBuffer: async (output, to) => network.outputBuffer?.(output, to) ??
            fail('INVALID_ARGUMENT', 'a worker has no buffers of the page'),
        report: () => network.report(),
        ...Symbol.dispose && { [Symbol.dispose]: dispose },
    });
}

export async function load(model, options = {}) {
    const { signal, onProgress, worker } = options, isUrl = typeof model === 'string' || model instanceof URL;
    const name = options.name ?? (isUrl ? String(model).split(/[?#]/)[0].split('/').at(-1) : 'model');
    try {
        signal?.throwIfAborted();
        checkOptions(options);
        const tell = (stage, fraction) => onProgress?.({ stage, fraction });
        const getModel = async () => {
            const bytes = isUrl ? await fetchModel(model, signal, tell) : bytesOf(model);
            signal?.throwIfAborted();
            checkModel(bytes, name);
            return bytes;
        };
        return face(await (worker ? openInWorker : open)(getModel(), name, options));
    } catch (error) {
        if (signal?.aborted)
            fail('CANCELLED', `${name}: the loading was aborted`, error);
        throw error;
    }
}
