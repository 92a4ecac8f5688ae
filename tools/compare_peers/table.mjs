// The table of what was measured, as Markdown.

const LIBRARIES = { tessera: 'Tessera', tfjs: 'TF.js', ort: 'ONNX Runtime' };
const BACKENDS = { gles: 'OpenGL ES', webgl: 'WebGL', webgpu: 'WebGPU' };
const HEAD = ['Model', 'On', 'Engine', 'First run', 'Peer / it', 'Median', 'Quartiles', 'Runs', 'Peer / it', 'Difference', 'Remarks'];
const LEFT = new Set(['Model', 'On', 'Engine', 'Remarks']);
const MOST = 1e-2; // a larger difference is told

const known = value => Number.isFinite(value);
const time = ms => !known(ms) ? '–' : ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;

// The peers that a row is compared with: those of its place, or, if there are none, of pages.
function peersOf({ model, engine }, rows) {
    const peers = rows.filter(row => row.model === model && row.engine.api === engine.api && row.engine.library !== 'tessera');
    const near = peers.filter(row => row.engine.place === engine.place);
    return near.length ? near : peers;
}

// How many times as fast as the best of the peers.
function ratio(row, rows, pick) {
    const best = Math.min(...peersOf(row, rows).map(pick).filter(known)), factor = best / pick(row);
    return row.engine.library === 'tessera' && known(factor) ? factor.toFixed(2) : '–';
}

function remarks({ error, difference, device }) {
    const differs = known(difference) && difference <= MOST || difference === undefined ? [] : ['**computes something else**'];
    return [...error ? [`failed: ${error}`] : [], ...differs, ...device ? [device] : []].join('; ');
}

function cells(row, rows) {
    const { model, engine: { api, place, library, backend }, first, steady, times, difference } = row;
    return [
        model, api, `${LIBRARIES[library]} ${BACKENDS[backend]}, ${place}`, time(first), ratio(row, rows, x => x.first),
        time(steady.median), times.length > 1 ? `${time(steady.low)} – ${time(steady.high)}` : '–', String(times.length),
        ratio(row, rows, x => x.steady.median), difference === undefined ? '–' : difference.toExponential(1), remarks(row),
    ].map(text => text.replaceAll('|', '/'));
}

/** rows: { model, engine, first, steady, times, difference, device, error }, first, times and those of summarise() in ms. */
export function toMarkdown(rows, { date, machine, versions, starts, runs }) {
    const line = list => `| ${list.join(' | ')} |`;
    return [
        `${date} UTC; ${machine}; ${versions}.`, '',
        `First run: with empty caches, from the start of a process or a navigation in a fresh browser to the first result, median of ${starts}.`,
        `Median: of ${runs} runs in turns, each the second of two, upload and readback included. Peer / it: the time of the best other library`,
        'on the same driver, in the same place if there is one, else in a page, by that of the row. Difference: the largest, to the first engine',
        'of that page.', '',
        line(HEAD), line(HEAD.map(name => LEFT.has(name) ? '---' : '--:')), ...rows.map(row => line(cells(row, rows))), '',
    ].join('\n');
}
