// Draws the channels of a tensor side by side.

const MOST = 4096; // pixels a side of a canvas

/** Channels, height and width of the first image of a tensor. */
export function planeSizes(shape) {
    switch (shape.length) {
    case 0: return [1, 1, 1];
    case 1: return [shape[0], 1, 1];
    case 2: return [shape[1], 1, 1];
    case 3: return shape[0] === 1 ? [1, shape[1], shape[2]] : [...shape];
    default: return shape.slice(-3);
    }
}

/** The number of columns that makes the mosaic nearest to a square. */
function chooseColumns(count, height, width) {
    const columns = Math.round(Math.sqrt(count * height / width));
    return Math.min(Math.max(columns, Math.ceil(count * height / MOST), 1), count);
}

// The value of full colour, and what there is.
function measure(data) {
    let least = Infinity, most = -Infinity, squares = 0;
    for (const x of data) {
        least = Math.min(least, x);
        most = Math.max(most, x);
        squares += x * x;
    }
    const largest = Math.max(-least, most);
    return { least, most, full: Math.min(largest, 3 * Math.sqrt(squares / data.length)) || 1 };
}

// From dark over the hue of the sign to nearly white.
function makeRamp(hue) {
    const ramp = new Uint8ClampedArray(3 * 256);
    for (let i = 0; i < 256; i++) {
        const part = Math.min(i / 255 * 1.6, 1), light = Math.max(i / 255 - 0.625, 0);
        [15, 15, 20].forEach((dark, c) => { ramp[3 * i + c] = (dark + (hue[c] - dark) * part) * (1 - light) + 255 * light; });
    }
    return ramp;
}
const BELOW = makeRamp([41, 115, 242]), ABOVE = makeRamp([250, 140, 31]);

/**
 * Draws channels first to first + count of data on a canvas, which gets the mosaic's size. Gives the least and the largest
 * element.
 */
export function drawMosaic(canvas, data, shape, first = 0, count = planeSizes(shape)[0] - first) {
    const [, height, width] = planeSizes(shape), area = height * width;
    const shown = data.subarray(first * area, (first + count) * area), { least, most, full } = measure(shown);
    const columns = chooseColumns(count, height, width), gap = height > 8 && count > 1 ? 1 : 0;
    canvas.width = Math.min(columns * (width + gap) - gap, MOST);
    canvas.height = Math.min(Math.ceil(count / columns) * (height + gap) - gap, MOST);
    const context = canvas.getContext('2d'), tile = new ImageData(width, height);
    for (let c = 0; c < count; c++) {
        for (let i = 0; i < area; i++) {
            const x = shown[c * area + i], ramp = x < 0 ? BELOW : ABOVE;
            const at = 3 * Math.min(Math.round(255 * Math.abs(x) / full), 255);
            tile.data.set([ramp[at], ramp[at + 1], ramp[at + 2], 255], 4 * i);
        }
        context.putImageData(tile, c % columns * (width + gap), Math.floor(c / columns) * (height + gap));
    }
    return { least, most };
}
