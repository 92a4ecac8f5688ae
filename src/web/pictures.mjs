// Pictures of a page as inputs, outputs as pictures.
import { fail } from './module.mjs';

let scratch; // a canvas in which pictures are read

const isA = (value, ...names) => names.some(name => globalThis[name] && value instanceof globalThis[name]);

export const isPicture = value => isA(value, 'ImageData', 'HTMLCanvasElement', 'OffscreenCanvas', 'HTMLImageElement',
    'HTMLVideoElement', 'ImageBitmap', 'VideoFrame');

const sizeOf = picture => ({
    width: picture.displayWidth ?? picture.videoWidth ?? picture.naturalWidth ?? picture.width,
    height: picture.displayHeight ?? picture.videoHeight ?? picture.naturalHeight ?? picture.height,
});

/** A canvas that is not shown. */
export function makeCanvas(width, height) {
    if (globalThis.OffscreenCanvas)
        return new OffscreenCanvas(width, height);
    return Object.assign(document.createElement('canvas'), { width, height });
}

/**
 * RGBA bytes of a picture or of a part of it: { data, width, height }. What is more than twice as large as `wanted`, { width,
 * height }, is scaled to that: the network's own scaling does the rest.
 */
export function readPicture(picture, crop, wanted) {
    if (isA(picture, 'ImageData') && !crop)
        return picture;
    const part = crop ?? { x: 0, y: 0, ...sizeOf(picture) };
    if (!(part.width > 0 && part.height > 0))
        fail('INVALID_ARGUMENT', `a picture of ${part.width} x ${part.height} pixels: has it been loaded?`);
    const width = Math.max(1, Math.round(Math.min(part.width, 2 * wanted.width)));
    const height = Math.max(1, Math.round(Math.min(part.height, 2 * wanted.height)));
    scratch ??= makeCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    Object.assign(scratch.canvas, { width, height }); // clears it
    let source = picture;
    if (isA(picture, 'ImageData')) {
        source = makeCanvas(picture.width, picture.height);
        source.getContext('2d').putImageData(picture, 0, 0);
    }
    scratch.imageSmoothingQuality = 'high';
    scratch.drawImage(source, part.x, part.y, part.width, part.height, 0, 0, width, height);
    return scratch.getImageData(0, 0, width, height);
}

/** mean[4] and scale[4] of PixelOptions; range: of elements for values of 0 to 255, unless they say otherwise. */
export function normalization({ mean, scale }, [low, high] = [0, 1]) {
    const four = value => Array.from({ length: 4 }, (_, i) => (typeof value === 'number' ? value : value[i] ?? 0));
    const means = four(mean ?? (scale === undefined ? -low * 255 / (high - low) : 0));
    const scales = four(scale ?? (mean === undefined ? (high - low) / 255 : 1 / 255));
    const all = new Float32Array([...means, ...scales]);
    if (!all.every(Number.isFinite))
        fail('INVALID_ARGUMENT', 'mean, scale or range are no finite numbers');
    return all;
}

/** Sizes of a tensor that is a picture. */
export function pictureShape({ name, shape }, layout = 'nchw') {
    const four = shape.length > 3 ? shape : [1, ...shape.length === 3 ? shape : layout === 'nhwc' ? [...shape, 1] : [1, ...shape]];
    const [images, ...rest] = four, [channels, height, width] = layout === 'nhwc' ? [rest[2], rest[0], rest[1]] : rest;
    if (shape.length < 2 || shape.length > 4 || ![1, 3, 4].includes(channels))
        fail('SHAPE', `'${name}' [${shape.join(', ')}] is no picture: it needs 1, 3 or 4 channels (layout ${layout})`);
    return { images, channels, height, width };
}

/** One image of an output's elements as ImageData, for backends that do not draw. */
export function toImageData(elements, info, { image = 0, layout = 'nchw', order = 'rgb', ...options }, range) {
    const { images, channels, height, width } = pictureShape(info, layout), count = width * height;
    if (!(image >= 0 && image < images))
        fail('INVALID_ARGUMENT', `output '${info.name}' has no image ${image}`);
    const normal = normalization(options, range), pixels = new ImageData(width, height);
    const from = image * channels * count;
    for (let c = 0; c < 4; c++) {
        const color = channels === 1 ? 0 : c, source = order === 'bgr' && color < 3 && channels > 1 ? 2 - color : color;
        const opaque = c === 3 && channels < 4, mean = normal[color], scale = normal[4 + color];
        for (let i = 0; i < count; i++) {
            const at = layout === 'nhwc' ? i * channels + source : source * count + i;
            pixels.data[4 * i + c] = opaque ? 255 : elements[from + at] / scale + mean; // clamped and rounded
        }
    }
    return pixels;
}

/** Shows an ImageBitmap, which is closed, in the whole of a canvas. */
export function show(bitmap, canvas) {
    const shown = canvas.getContext('bitmaprenderer');
    if (shown) {
        shown.transferFromImageBitmap(bitmap);
        return;
    }
    const drawn = canvas.getContext('2d') ??
        fail('INVALID_ARGUMENT', 'render: the canvas has a context that is neither 2d nor bitmaprenderer');
    drawn.save();
    drawn.resetTransform();
    Object.assign(drawn, { globalAlpha: 1, globalCompositeOperation: 'copy', filter: 'none' });
    drawn.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    drawn.restore();
    bitmap.close();
}
