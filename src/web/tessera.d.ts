// Tessera: ONNX networks in browsers (WebGL 2, WebGPU, CPU) and in node.
/// <reference lib="esnext.disposable" />

/** Version of the library. */
export const version: string;

/** 'auto': the first of webgpu, webgl and cpu that works here. */
export type Backend = 'auto' | 'webgpu' | 'webgl' | 'cpu';

/** Why something failed; CANCELLED: by the signal, or because the network was disposed of during a run. */
export type Status = 'INVALID_ARGUMENT' | 'IO' | 'INVALID_MODEL' | 'UNSUPPORTED' | 'SHAPE' | 'OUT_OF_MEMORY' | 'LIMIT' |
    'NO_DEVICE' | 'DEVICE' | 'DEVICE_LOST' | 'CANCELLED';

/** Everything that fails throws one. After DEVICE_LOST the network has to be disposed of and loaded again. */
export class TesseraError extends Error {
    readonly status: Status;
}

/** A tensor of a custom operator's call, valid during that; data is null for an input that is absent. */
export interface OperatorTensor {
    readonly dims: readonly number[];
    readonly data: Float32Array;
}

/** An operator of the page's. Shader bodies and their names are described in tessera.h: `return ATTR_gain * IN0(n, c, y, x);` */
export interface CustomOperator {
    name: string;
    /** '' for operators of ONNX that are missing. */
    domain?: string;
    /** 1 to 4, or the least and the most: 1. */
    inputs?: number | readonly [number, number];
    /** Attributes that the operator uses, with the values for nodes that do not have them. */
    attributes?: Record<string, number>;
    /** Dimensions of the output: those of the first input by default. */
    shape?(inputs: readonly (readonly number[])[], attributes: Record<string, number>): number[];
    /** Fills output.data, on the CPU: with the backend cpu, and once for nodes whose inputs are constant. */
    compute(inputs: readonly OperatorTensor[], output: OperatorTensor, attributes: Record<string, number>): void;
    glsl?: string;
    wgsl?: string;
}

export interface LoadOptions {
    backend?: Backend;
    /** Storage of tensors on a GPU: 'fp32' by default. */
    precision?: 'fp32' | 'fp16';
    /** Storage of weights on a GPU: 'auto', as precision says and in 8 or 4 bits what the model has so, by default. */
    weights?: 'auto' | 'fp32' | 'fp16' | 'int8' | 'int4';
    /** Sizes of symbolic dimensions: { batch: 1 }. */
    dims?: Record<string, number>;
    /** Shapes of inputs that the model leaves open. */
    shapes?: Record<string, readonly number[]>;
    /** Inner tensors that become outputs, by name: see NodeReport.output. */
    extraOutputs?: readonly string[];
    customOps?: readonly CustomOperator[];
    /**
     * webgl: the page's own WebGL 2 context, to share textures with. Its state is restored after each call; its pending errors are
     * gone. render() reads back then.
     */
    gl?: WebGL2RenderingContext;
    /** Of gl: outputs stay in textures, for outputTexture(). */
    textureOutputs?: boolean;
    /** webgpu: the page's own device, to share buffers with. */
    gpuDevice?: unknown;
    /** Everything runs in a worker of its own; the network's functions are the same. Not with gl or gpuDevice. */
    worker?: boolean;
    /** Ends the loading. */
    signal?: AbortSignal;
    /** What is being done, and which fraction of the loading that completes: 0 to 1. */
    onProgress?: (progress: { stage: 'download' | 'read' | 'prepare'; fraction: number }) => void;
    /** Receives the library's log. */
    log?: (level: 'error' | 'warn' | 'info' | 'debug', message: string) => void;
    /** The model's name in messages; by default the end of its URL. */
    name?: string;
    /**
     * The module, in place of those beside this file: by default tessera-webgl.wasm (webgl and cpu) or tessera-webgpu.wasm, which have
     * what ordinary networks need, and then, if the model needs more, tessera.wasm, which has everything. No other is fetched.
     */
    wasm?: string | URL | BufferSource | WebAssembly.Module;
}

export interface TensorInfo {
    readonly name: string;
    /** 'float32', 'int64', ... Elements are passed as floats in any case. */
    readonly dtype: string;
    readonly shape: readonly number[];
}

/** What a page can draw. */
export type Picture = ImageData | HTMLCanvasElement | OffscreenCanvas | HTMLImageElement | HTMLVideoElement | ImageBitmap | VideoFrame;

/** How pixels, of 0 to 255, become elements: (value - mean) * scale. It is scaled to the input's size. */
export interface PixelOptions {
    mean?: number | readonly number[];
    /** 1 / 255 by default. */
    scale?: number | readonly number[];
    /** Of the tensor. 'nchw' by default. */
    layout?: 'nchw' | 'nhwc';
    /** Of the tensor's channels. 'rgb' by default. */
    order?: 'rgb' | 'bgr';
}
export interface PictureInput extends PixelOptions {
    picture: Picture;
    /** Part of the picture, in its pixels. */
    crop?: { x: number; y: number; width: number; height: number };
    /** Place in the batch: 0. */
    image?: number;
}

/**
 * A tensor in a texture of LoadOptions.gl: channels 4t to 4t + 3 of pixel (x, y) of image n are in the texel
 * ((k % columns) * width + x, floor(k / columns) * height + y), k = n * tiles + t; row 0 is the upper one.
 */
export interface TensorTexture {
    texture: WebGLTexture;
    /** Of one tile. */
    width: number;
    height: number;
    /** Tiles side by side: 1. */
    columns?: number;
    /** Per image: ceil(channels / 4), 1 by default. */
    tiles?: number;
    textureWidth?: number;
    textureHeight?: number;
}
/** Each value times factor, 1 by default, plus summand, 0 by default. */
export interface TextureInput extends TensorTexture {
    factor?: number;
    summand?: number;
}

/** A tensor's elements in a GPUBuffer of LoadOptions.gpuDevice: dense and row-major, in the order of the tensor's axes. */
export interface TensorBuffer {
    /**
     * A GPUBuffer with usage STORAGE. An input needs the bytes of its elements, rounded up to 4; an output in float32 16, which are
     * written.
     */
    buffer: unknown;
    /** Bytes before the first element, a multiple of 256: 0. */
    offset?: number;
    /** 'float32' by default. */
    dtype?: 'float32' | 'float16' | 'uint8' | 'bool';
    /** 'nhwc': the channels, which are the tensor's second axis, are the last one in the buffer. 'nchw' by default. */
    layout?: 'nchw' | 'nhwc';
}

export type Input = Float32Array | Picture | PictureInput | TextureInput | TensorBuffer;

export interface RunOptions {
    /** Of elements of inputs that are given as pictures alone: [0, 1] by default; [-1, 1] for many generators. */
    range?: readonly [number, number];
}
export interface ReadOptions {
    /** false: outputs stay on the GPU, for outputBuffer() and outputTexture(); the result is {}. */
    read?: boolean;
}

export interface RenderOptions extends RunOptions, PixelOptions {
    /** Name of the output that is drawn: the first by default. */
    output?: string;
    image?: number;
}

export interface NodeReport {
    name: string; op: string; output: string; backend: string; kernel: string; shape: readonly number[]; macs: number; passes: number;
}

export interface Report {
    backend: string;
    /** Name of the GPU. */
    device: string;
    precision: 'fp32' | 'fp16';
    passes: number; programs: number; macs: number;
    /** Bytes of tensors and of weights on the device. */
    tensorBytes: number; weightBytes: number;
    compileMs: number;
    nodes: readonly NodeReport[];
}

export interface Network {
    readonly backend: 'webgpu' | 'webgl' | 'cpu';
    readonly inputs: readonly TensorInfo[];
    readonly outputs: readonly TensorInfo[];
    /** Inputs are read when the run begins, which is at once if none is in progress; those that are not given keep their elements. Runs of a network follow one another in the order of the calls. */
    run(inputs?: Record<string, Input>, options?: RunOptions & ReadOptions): Promise<Record<string, Float32Array>>;
    /**
     * Runs, and draws an output of 1, 3 or 4 channels into the whole of a canvas (whose size stays), opaque, or of a GPUTexture of
     * gpuDevice: 2d, rgba8unorm or bgra8unorm, srgb or not, with usage COPY_DST. On a GPU nothing is read back.
     */
    render(inputs: Record<string, Input>, target: HTMLCanvasElement | OffscreenCanvas | object, options?: RenderOptions): Promise<void>;
    /**
     * Writes an output of the latest run that began into a buffer: `to.buffer`, or one with usages STORAGE and COPY_SRC that is the
     * network's, rewritten by the next call for that output and gone with the network. Needs gpuDevice. The commands are submitted
     * before the call returns, and come before all that the page submits afterwards; the promise tells of errors.
     */
    outputBuffer(name: string, to?: Partial<TensorBuffer>): Promise<TensorBuffer>;
    /** Of the latest run; rewritten by each run, gone with the network. Needs textureOutputs. */
    outputTexture(name: string): TensorTexture;
    report(): Promise<Report>;
    /** Frees everything; does nothing the second time. Runs in progress fail with CANCELLED. */
    dispose(): void;
    [Symbol.dispose](): void;
}

/**
 * Makes a network from an ONNX file: its URL or its bytes, which may be changed afterwards. The URL may be that of an index, .json,
 * which `tessera convert --chunk` made: chunks are fetched at once, checked by their hashes, and kept by the Cache API.
 */
export function load(model: string | URL | ArrayBuffer | ArrayBufferView, options?: LoadOptions): Promise<Network>;

// ---- for code that was written for ONNX Runtime Web: change the import ---------------------------

export class Tensor {
    constructor(type: string, data: Float32Array | readonly number[] | ArrayBufferView, dims?: readonly number[]);
    readonly type: string;
    readonly data: Float32Array;
    readonly dims: readonly number[];
}
export class InferenceSession {
    static create(model: string | URL | ArrayBuffer | ArrayBufferView,
        options?: LoadOptions & { executionProviders?: readonly (string | { name: string })[] }): Promise<InferenceSession>;
    readonly inputNames: readonly string[];
    readonly outputNames: readonly string[];
    run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
    release(): Promise<void>;
}
