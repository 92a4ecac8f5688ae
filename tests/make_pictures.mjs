// make_pictures.mjs LIKE.npy COUNT SEED FOLDER: pictures of the shape and the range of numbers of a network's picture, as .npy: every
// other one is a part of that picture, mirrored, scaled, lighter or darker; the others are coloured noise, stripes and ellipses.
import { mkdirSync, readFileSync, writeFileSync } from 'fs';

const [like, count, seed, folder] = process.argv.slice(2);

function readPicture(path) {
    const bytes = readFileSync(path), length = bytes.readUInt16LE(8);
    const shape = /'shape': \(([^)]*)\)/.exec(bytes.toString('latin1', 10, 10 + length))[1].match(/\d+/g).map(Number);
    const raw = bytes.subarray(10 + length);
    const data = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
    const channelsLast = shape[3] <= 4 && shape[1] > 4;
    const [channels, height, width] = channelsLast ? [shape[3], shape[1], shape[2]] : shape.slice(1);
    const at = channelsLast ? (c, y, x) => (y * width + x) * channels + c : (c, y, x) => (c * height + y) * width + x;
    return { bytes, start: 10 + length, data, channels, height, width, at };
}

let state = Number(seed) + 1;
function random() { // mulberry32
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const between = (low, high) => low + (high - low) * random();
const mix = (a, b, t) => a + (b - a) * t;

// Smooth noise: octaves of bilinear lattices, each of half the cell and a little over half the height of the one before.
function makeNoise(height, width) {
    const octaves = [];
    for (let cell = Math.max(height, width) / between(1, 3), size = 1; cell > 2; cell /= 2, size *= 0.55) {
        const columns = Math.ceil(width / cell) + 2, lattice = new Float32Array(columns * (Math.ceil(height / cell) + 2)).map(random);
        octaves.push((y, x) => {
            const u = Math.floor(x / cell), v = Math.floor(y / cell), s = x / cell - u, t = y / cell - v, i = v * columns + u;
            return size * (mix(mix(lattice[i], lattice[i + 1], s), mix(lattice[i + columns], lattice[i + columns + 1], s), t) - 0.5);
        });
    }
    return (y, x) => octaves.reduce((sum, octave) => sum + octave(y, x), 0.5);
}

function makeShape(height, width) {
    const cy = between(0, height), cx = between(0, width), ry = between(0.05, 0.4) * height, rx = between(0.05, 0.4) * width;
    const angle = between(0, Math.PI), period = between(3, 20), stripes = random() < 0.5, colours = [0, 1, 2, 3].map(() => [random(), random()]);
    return {
        covers: (y, x) => ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1,
        colour: (c, y, x) => colours[c][stripes && Math.sin((y * Math.cos(angle) + x * Math.sin(angle)) * 2 * Math.PI / period) > 0 ? 1 : 0],
    };
}

function draw(p) {
    const noise = [0, 1, 2, 3].map(() => makeNoise(p.height, p.width));
    const shapes = Array.from({ length: Math.floor(between(1, 7)) }, () => makeShape(p.height, p.width));
    return (c, y, x) => {
        const shape = shapes.find(s => s.covers(y, x));
        return mix(shape ? shape.colour(c, y, x) : noise[0](y, x), noise[c](y, x), 0.4);
    };
}

function cut(p, unit) {
    const size = between(0.4, 1), top = between(0, (1 - size) * p.height), left = between(0, (1 - size) * p.width);
    const mirrored = random() < 0.5, gain = between(0.6, 1.3), shift = between(-0.2, 0.2), grain = between(0, 0.1);
    return (c, y, x) => {
        const from = mirrored ? p.width - 1 - x : x;
        return unit(c, Math.floor(top + y * size), Math.floor(left + from * size)) * gain + shift + (random() - 0.5) * grain;
    };
}

const p = readPicture(like);
const low = p.data.reduce((a, b) => Math.min(a, b)), high = p.data.reduce((a, b) => Math.max(a, b));
const unit = (c, y, x) => (p.data[p.at(c, y, x)] - low) / (high - low);
mkdirSync(folder, { recursive: true });
for (let i = 0; i < Number(count); i++) {
    const made = new Float32Array(p.data.length), colour = i % 2 ? draw(p) : cut(p, unit);
    for (let c = 0; c < p.channels; c++)
        for (let y = 0; y < p.height; y++)
            for (let x = 0; x < p.width; x++)
                made[p.at(c, y, x)] = mix(low, high, Math.min(1, Math.max(0, colour(c, y, x))));
    writeFileSync(`${folder}/${String(i).padStart(3, '0')}.npy`, Buffer.concat([p.bytes.subarray(0, p.start), Buffer.from(made.buffer)]));
}
