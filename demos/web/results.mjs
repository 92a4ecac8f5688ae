// Shows outputs of networks on canvases: masks, classes, boxes, and lists of values.

const NCHW = { channels: 1, height: 2, width: 3 }, NHWC = { channels: 3, height: 1, width: 2 };
const PICTURE = [1, 3, 4]; // numbers of channels

/** Channels, height and width of a tensor of pictures, and its layout; undefined if it is none. */
export function pictureSizes(shape, layout = 'auto') {
    if (shape.length !== 4)
        return undefined;
    const last = layout === 'nhwc' || (layout === 'auto' && !PICTURE.includes(shape[1]) && PICTURE.includes(shape[3]));
    const axes = last ? NHWC : NCHW;
    return { layout: last ? 'nhwc' : 'nchw', channels: shape[axes.channels], height: shape[axes.height], width: shape[axes.width] };
}

// YuNet's three grids: offsets from their cells, of 8, 16 and 32 pixels, and logarithms of sizes.
function decodeGrids(results, { width, height }) {
    const boxes = [], scores = [];
    for (const cell of [8, 16, 32]) {
        const columns = Math.ceil(width / cell);
        const [at, sure, object] = ['bbox', 'cls', 'obj'].map(name => results[`${name}_${cell}`]);
        for (let i = 0; i < sure.length; i++) {
            const [dx, dy, w, h] = at.subarray(4 * i, 4 * i + 4);
            const x = (i % columns + dx) * cell, y = (Math.floor(i / columns) + dy) * cell;
            const right = Math.exp(w) * cell / 2, down = Math.exp(h) * cell / 2;
            boxes.push((x - right) / width, (y - down) / height, (x + right) / width, (y + down) / height);
            scores.push(Math.sqrt(Math.max(sure[i] * object[i], 0)));
        }
    }
    return { boxes, scores };
}

/**
 * A function of a run's results and of the picture's size, if the outputs are boxes: it gives { boxes, scores } of them. Of boxes
 * [1, n, 4] and scores [1, n, classes], or of YuNet's grids.
 */
export function boxDecoder(outputs) {
    if (outputs.some(({ name }) => name === 'bbox_8') && outputs.some(({ name }) => name === 'obj_32'))
        return decodeGrids;
    const boxes = outputs.find(({ shape }) => shape.length === 3 && shape[2] === 4 && shape[1] > 4);
    const scores = outputs.find(output => output !== boxes && output.shape.length === 3 && output.shape[1] === boxes?.shape[1]);
    if (outputs.length !== 2 || !boxes || !scores)
        return undefined;
    return results => ({ boxes: results[boxes.name], scores: results[scores.name] });
}

/** What fits an output best. */
export function guessView(output, outputs) {
    const sizes = pictureSizes(output.shape);
    if (boxDecoder(outputs))
        return 'boxes';
    if (!sizes || sizes.height * sizes.width < 16)
        return 'values';
    return PICTURE.includes(sizes.channels) ? 'picture' : 'classes';
}

// The index of channel c of pixel i.
function indexOf({ layout, channels, height, width }) {
    return layout === 'nhwc' ? (c, i) => i * channels + c : (c, i) => c * height * width + i;
}

/** A tensor's elements, from least to most, as a picture. */
export function toImage(data, sizes) {
    const { channels, height, width } = sizes, index = indexOf(sizes), image = new ImageData(width, height);
    let least = Infinity, most = -Infinity;
    for (const x of data) {
        least = Math.min(least, x);
        most = Math.max(most, x);
    }
    for (let i = 0; i < height * width; i++)
        for (let c = 0; c < 4; c++) {
            const x = c < 3 || channels === 4 ? (data[index(channels > 1 ? c : 0, i)] - least) / (most - least || 1) : 1;
            image.data[4 * i + c] = 255 * x;
        }
    return image;
}

/** A mask of one channel, of 0 to 1, or the class of each pixel, as colours to lay over the picture. */
export function toOverlay(data, sizes) {
    const { channels, height, width } = sizes, index = indexOf(sizes), image = new ImageData(width, height);
    for (let i = 0; i < height * width; i++) {
        let best = 0;
        for (let c = 1; c < channels; c++)
            if (data[index(c, i)] > data[index(best, i)])
                best = c;
        const alpha = channels > 1 ? (best ? 0.65 : 0) : 0.65 * Math.min(Math.max(data[i], 0), 1);
        image.data.set([...colorOf(best), 255 * alpha], 4 * i);
    }
    return image;
}

// Far apart for neighbours.
function colorOf(i) {
    const turn = 2 * Math.PI * (0.05 + 0.382 * i);
    return [0, 1, 2].map(c => 150 + 105 * Math.cos(turn - 2 * Math.PI * c / 3));
}

function overlap(a, b) {
    const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0]), height = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
    const area = ([left, top, right, bottom]) => (right - left) * (bottom - top);
    const both = Math.max(width, 0) * Math.max(height, 0);
    return both / (area(a) + area(b) - both);
}

/** The best boxes, each { box: [left, top, right, bottom], score }, of those that overlap. Of several classes, class 0 is none. */
export function bestBoxes({ boxes, scores }, least) {
    const count = boxes.length / 4, classes = scores.length / count, found = [];
    for (let i = 0; i < count; i++) {
        const score = Math.max(...scores.slice(i * classes + (classes > 1 ? 1 : 0), (i + 1) * classes));
        if (score >= least)
            found.push({ box: boxes.slice(4 * i, 4 * i + 4), score });
    }
    found.sort((a, b) => b.score - a.score);
    const kept = [];
    for (const one of found)
        if (kept.length < 100 && kept.every(({ box }) => overlap(box, one.box) < 0.4))
            kept.push(one);
    return kept;
}

/** Boxes, relative to the picture, on a canvas. */
export function drawBoxes(context, boxes) {
    const { width, height } = context.canvas, line = Math.max(width / 160, 2);
    context.lineWidth = line;
    context.font = `${5 * line}px system-ui, sans-serif`;
    for (const { box: [left, top, right, bottom], score } of boxes) {
        const text = `${Math.round(100 * score)} %`, wide = context.measureText(text).width + 2 * line;
        const x = left * width, y = top * height;
        context.strokeStyle = context.fillStyle = '#ffb000';
        context.strokeRect(x, y, (right - left) * width, (bottom - top) * height);
        context.fillRect(x - line / 2, Math.max(y - 6 * line, 0), wide, 6 * line);
        context.fillStyle = '#000';
        context.fillText(text, x + line / 2, Math.max(y - 6 * line, 0) + 4.7 * line);
    }
}

/** The largest elements: [index, value]. */
export function largest(data, count = 5) {
    return [...data.entries()].sort((a, b) => b[1] - a[1]).slice(0, count);
}
