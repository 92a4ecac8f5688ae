// Uses all of tessera.d.ts, for TypeScript's compiler alone.
import {
    InferenceSession, Tensor, TesseraError, load, version,
    type Backend, type LoadOptions, type Network, type PictureInput, type Report, type Status, type TensorInfo,
} from 'tessera-nn';

const backends: readonly Backend[] = ['auto', 'webgpu', 'webgl', 'cpu'];
const options: LoadOptions = {
    backend: backends[0], precision: 'fp16', weights: 'int8', dims: { batch: 1 }, shapes: { x: [1, 3, 224, 224] }, worker: true,
    signal: new AbortController().signal, name: 'net', wasm: new URL('https://example.org/tessera.wasm'),
    onProgress: ({ stage, fraction }) => console.log(stage.toUpperCase(), fraction.toFixed(2)),
    log: (level, message) => console.log(level, message),
};

function sizeOf({ name, dtype, shape }: TensorInfo): string {
    return `${name}: ${dtype} ${shape.reduce((product, size) => product * size, 1)}`;
}

export async function use(video: HTMLVideoElement, canvas: HTMLCanvasElement): Promise<string> {
    const network: Network = await load('net.onnx', options), picture: PictureInput = { picture: video, order: 'bgr', mean: [1, 2, 3] };
    const outputs: Record<string, Float32Array> = await network.run({ x: new Float32Array(3), y: video, z: picture }, { range: [-1, 1] });
    await network.render({ x: picture }, canvas, { output: 'y', image: 0, layout: 'nhwc' });
    const report: Report = await network.report();
    network.dispose();
    return [version, network.backend, ...network.inputs.map(sizeOf), Object.keys(outputs).join(), report.nodes[0].kernel].join();
}

export async function useBytes(bytes: ArrayBuffer, view: Uint8Array): Promise<Status | undefined> {
    try {
        for (const model of [bytes, view, new URL('https://example.org/net.onnx')])
            (await load(model)).dispose();
    } catch (error) {
        return error instanceof TesseraError ? error.status : undefined;
    }
    return undefined;
}

export async function useAlias(bytes: ArrayBuffer): Promise<number> {
    const session = await InferenceSession.create(bytes, { executionProviders: ['webgl', { name: 'wasm' }] });
    const results = await session.run({ [session.inputNames[0]]: new Tensor('float32', new Float32Array(3), [1, 3]) });
    await session.release();
    return results[session.outputNames[0]].data[0];
}

// @ts-expect-error there is no such backend
export const wrongBackend: Promise<Network> = load('net.onnx', { backend: 'abacus' });
// @ts-expect-error a model is a URL or bytes
export const wrongModel: Promise<Network> = load(3);
// @ts-expect-error inputs cannot be changed
export const wrongChange = (network: Network) => { network.inputs = []; };
