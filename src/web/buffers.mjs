// Buffers and textures of the page's own GPUDevice: see TensorBuffer and render() in tessera.d.ts.
import { fail } from './module.mjs';

const DTYPES = { float32: [0, 4], float16: [1, 2], uint8: [11, 1], bool: [12, 1] }; // a tsr_dtype, its bytes
const COPY_SRC = 4, STORAGE = 128, TEXTURE_COPY_DST = 2, CANVAS_FORMAT = 'rgba8unorm';

/** Fails unless it can be one; its device, and what became of it, WebGPU alone knows. */
export function checkBuffer(name, { buffer, offset = 0, dtype = 'float32' }) {
    if (!(globalThis.GPUBuffer && buffer instanceof GPUBuffer))
        fail('INVALID_ARGUMENT', `'${name}': buffer is no GPUBuffer`);
    if (!(buffer.usage & STORAGE))
        fail('INVALID_ARGUMENT', `'${name}': its buffer was made without GPUBufferUsage.STORAGE`);
    if (buffer.mapState !== 'unmapped')
        fail('INVALID_ARGUMENT', `'${name}': its buffer is mapped`);
    if (!(Number.isInteger(offset) && offset >= 0 && offset <= buffer.size))
        fail('INVALID_ARGUMENT', `'${name}': a buffer of ${buffer.size} bytes has no offset ${offset}`);
    if (!Object.hasOwn(DTYPES, dtype))
        fail('INVALID_ARGUMENT', `'${name}': elements of buffers are ${Object.keys(DTYPES).join(', ')}, not ${dtype}`);
}

const countOf = shape => shape.reduce((product, size) => product * size, 1);

/** For tsr_web_set_buffer() and tsr_web_get_buffer(). */
export const bufferNumbers = ({ buffer, offset = 0, dtype = 'float32', layout = 'nchw' }, shape) =>
    Float64Array.of(offset, buffer.size - offset, countOf(shape), DTYPES[dtype][0], Number(layout === 'nhwc'));

/** One for an output: `had`, if that has the right size. */
export function outputBuffer(device, had, { shape }, dtype = 'float32') {
    const size = Math.max(16, Math.ceil(countOf(shape) * (DTYPES[dtype]?.[1] ?? 0) / 16) * 16); // four floats are written at once
    if (had?.size === size)
        return had;
    had?.destroy();
    return device.createBuffer({ size, usage: STORAGE | COPY_SRC });
}

export const isTexture = value => Boolean(globalThis.GPUTexture) && value instanceof GPUTexture;

/** Are the bytes of its texels blue, green, red, alpha? */
export function isBgra({ format, usage, dimension }) {
    const [, order] = /^(rgba|bgra)8unorm(-srgb)?$/.exec(format) ?? [];
    if (!order || dimension !== '2d' || !(usage & TEXTURE_COPY_DST))
        fail('INVALID_ARGUMENT', `render: a texture is 2d, rgba8unorm or bgra8unorm, with GPUTextureUsage.COPY_DST; this is ${dimension}, ${format}`);
    return order === 'bgra';
}

/** A canvas that a device can copy to; undefined where it cannot. */
export function openCanvas(device) {
    const canvas = globalThis.OffscreenCanvas && new OffscreenCanvas(1, 1), context = canvas?.getContext('webgpu');
    context?.configure({ device, format: CANVAS_FORMAT, usage: TEXTURE_COPY_DST, alphaMode: 'opaque' });
    return context ?? undefined;
}
