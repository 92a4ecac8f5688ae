// What the bench page and tools/compare_peers share: inputs, times and results.
import { readOnnx } from './onnx.mjs';

const USUAL = 256; // the size of open dimensions

/** { name: { shape, data } }: the same random elements each time. */
export function randomInputs(bytes) {
    let seed = 1;
    const random = () => {
        seed = Math.imul(seed, 1664525) + 1013904223 >>> 0;
        return seed / 2 ** 32;
    };
    return Object.fromEntries(readOnnx(bytes).inputs.map(({ name, type, shape }) => {
        if (type !== 1)
            throw new Error(`input ${name} is not of floats`);
        const sizes = shape.map((size, i) => size > 0 ? size : i ? USUAL : 1);
        return [name, { shape: sizes, data: Float32Array.from({ length: sizes.reduce((a, b) => a * b, 1) }, random) }];
    }));
}

function quantile(sorted, part) {
    const at = (sorted.length - 1) * part, low = Math.floor(at);
    return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

/** The median and the quartiles, NaN of no times. */
export function summarise(times) {
    const sorted = [...times].sort((a, b) => a - b);
    return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

/** Those of `rows` that run in a round, in that order: another one begins each time. One with no time left for one more, of so many
 * seconds for its `times`, sits out, but not in round 0. */
export function turns(rows, round, seconds) {
    const spent = ({ times }) => times.reduce((a, b) => a + b, 0);
    const due = rows.filter(row => round === 0 || spent(row) + row.times.at(-1) < 1000 * seconds), first = round % due.length;
    return [...due.slice(first), ...due.slice(0, first)];
}

/** Of lists of outputs; Infinity if they have other sizes, NaN if one of them has NaN where the other has not. */
export function largestDifference(a, b) {
    if (a.length !== b.length || a.some((list, i) => list.length !== b[i].length))
        return Infinity;
    let most = 0;
    a.forEach((list, i) => list.forEach((x, j) => {
        if (!Object.is(x, b[i][j]))
            most = Math.max(most, Math.abs(x - b[i][j]));
    }));
    return most;
}

/** The promise, or a failure after so many seconds. */
export function inTime(promise, seconds) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer in ${seconds} s`)), 1000 * seconds);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
