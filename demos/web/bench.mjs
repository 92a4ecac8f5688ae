// The bench page: libraries in frames of their own, measured in turns on the same network and input.
import { barChart } from './chart.mjs';
import { inTime, largestDifference, randomInputs, summarise, turns } from './measuring.mjs';
import { $, acceptFiles, calm, complain, fetchSite, HALVES, make, makeModelChoice, ms, say, shapeText } from './shared.mjs';

const ENGINES = [
    ['tessera', 'webgpu'], ['tessera', 'webgl'], ['tessera', 'cpu'],
    ['ort', 'webgpu', 'ort.webgpu.min.js'], ['ort', 'webgl', 'ort.webgl.min.js'], ['ort', 'wasm', 'ort.wasm.min.js'],
    ['tfjs', 'webgpu', 'tf-backend-webgpu.es2017.min.js'], ['tfjs', 'webgl', 'tf-backend-webgl.es2017.min.js'],
    ['tfjs', 'wasm', 'tf-backend-wasm.es2017.min.js'],
];
const LIBRARIES = { tessera: 'Tessera', ort: 'ONNX Runtime Web', tfjs: 'TF.js' };
const BACKENDS = { webgpu: 'WebGPU', webgl: 'WebGL', wasm: 'WebAssembly', cpu: 'CPU' };
const LIMIT = 120; // seconds until a library has failed
const TELL_MS = 3000; // between messages: the page is not drawn during a run

let model, rows = [], stopped = false;

// ---- measuring -----------------------------------------------------------------------------------

async function openFrame() {
    const frame = make('iframe', { src: 'engine.html', title: 'A library that is measured', tabIndex: -1 });
    $('frames').append(frame);
    await new Promise(done => frame.addEventListener('load', done, { once: true }));
    if (!frame.contentWindow.engine)
        throw new Error('engine.mjs did not start');
    return frame;
}

function fail(row, error) {
    row.error = String(error?.message ?? error).split('\n')[0];
    row.frame?.remove();
    row.frame = undefined;
}

async function prepare(row, feeds) {
    say(`${row.label}: loading …`);
    try {
        row.frame = await openFrame();
        const shapes = Object.fromEntries(Object.entries(feeds).map(([name, { shape }]) => [name, shape]));
        const { library, backend } = row, { bytes, name } = model;
        const loaded = await inTime(row.frame.contentWindow.engine.load({ library, backend, bytes, name, shapes }), LIMIT);
        const first = await inTime(row.frame.contentWindow.engine.run(feeds), LIMIT);
        Object.assign(row, { load: loaded.ms, device: loaded.device, first: first.ms, outputs: first.outputs });
    } catch (error) {
        fail(row, error);
    }
}

// Until the page is drawn: that, too, occupies the GPU.
async function idle() {
    for (let i = 0; i < 2; i++)
        await new Promise(requestAnimationFrame);
    await new Promise(done => setTimeout(done, 100));
}

async function runOnce(row, feeds) {
    await new Promise(done => setTimeout(done)); // for events of the page
    try {
        row.times.push((await inTime(row.frame.contentWindow.engine.run(feeds), LIMIT)).ms);
    } catch (error) {
        fail(row, error);
    }
}

async function measureAll(feeds, runs, budget) {
    for (const row of rows.filter(() => !stopped)) {
        await prepare(row, feeds);
        show();
    }
    const reference = rows.find(({ outputs }) => outputs)?.outputs;
    for (const row of rows.filter(({ outputs }) => outputs && outputs !== reference))
        row.difference = largestDifference(reference, row.outputs);
    for (let i = 0, told = -Infinity; i < runs; i++) {
        const due = turns(rows.filter(({ frame }) => frame), i, budget);
        if (performance.now() - told > TELL_MS && due.length) {
            say(`Run ${i + 1} of ${runs}`);
            told = performance.now();
            await idle();
        }
        for (const row of due.filter(() => !stopped))
            await runOnce(row, feeds);
    }
    show();
}

async function measure() {
    calm();
    stopped = false;
    rows = [...document.querySelectorAll('#engines input:checked')].map(({ value }) => {
        const [library, backend] = value.split(' ');
        return { library, backend, label: `${LIBRARIES[library]}, ${BACKENDS[backend]}`, times: [] };
    });
    if (!rows.length)
        return complain('Choose at least one library');
    $('start').disabled = true;
    $('stop').disabled = false;
    try {
        const feeds = randomInputs(model.bytes);
        const inputs = Object.entries(feeds).map(([name, { shape }]) => `${name}: ${shapeText(shape)}`).join('; ');
        const date = new Date().toISOString().slice(0, 16);
        $('conditions').textContent = `${model.name}, ${inputs}. ${date}. ${navigator.userAgent}`;
        await measureAll(feeds, $('runs').valueAsNumber || 1, $('budget').valueAsNumber || 1);
        say(stopped ? 'Stopped' : 'All is measured');
    } catch (error) {
        complain(`${model.name} cannot be measured`, error);
    } finally {
        $('frames').replaceChildren();
        $('start').disabled = false;
        $('stop').disabled = true;
    }
}

// ---- results -------------------------------------------------------------------------------------

const HEAD = ['Library', 'Load', 'First run', 'Median', 'Quartiles', 'Runs', 'Largest difference', 'Remarks'];
const isNumber = column => column > 0 && column < HEAD.length - 1;

function cellsOf(row) {
    const { label, load, first, times, difference, device, error } = row, { median, low, high } = summarise(times);
    const time = value => value === undefined || Number.isNaN(value) ? '–' : ms(value);
    const quartiles = times.length > 1 ? `${time(low)} – ${time(high)}` : '–';
    return [label, time(load), time(first), time(median), quartiles, String(times.length),
        difference === undefined ? '–' : difference.toExponential(1), error ? `failed: ${error}` : device ?? ''];
}

function show() {
    $('results').hidden = false;
    const cell = (tag, text, i) =>
        make(tag, { textContent: text, className: isNumber(i) ? 'number' : '', ...(tag === 'th' && { scope: 'col' }) });
    $('table').replaceChildren(make('table', {}, make('thead', {}, make('tr', {}, ...HEAD.map((text, i) => cell('th', text, i)))),
        make('tbody', {}, ...rows.map(row => make('tr', {}, ...cellsOf(row).map((text, i) => cell('td', text, i)))))));
    drawCharts();
}

function drawCharts() {
    const width = Math.max($('chart').clientWidth, 200), ours = ({ library }) => library === 'tessera';
    const steady = rows.filter(({ times }) => times.length).map(row => {
        const { median, low, high } = summarise(row.times);
        return { label: row.label, value: median, text: ms(median), low, high, ours: ours(row) };
    });
    const start = rows.filter(({ first }) => first !== undefined)
        .map(row => ({ label: row.label, value: row.load + row.first, text: ms(row.load + row.first), ours: ours(row) }));
    $('chart').replaceChildren(...[['A run: median and quartiles', steady], ['Load and first run', start]]
        .filter(([, bars]) => bars.length).map(([title, bars]) => barChart(title, bars, width)));
}

function toMarkdown() {
    const line = cells => `| ${cells.map(cell => cell.replaceAll('|', '/')).join(' | ')} |`;
    return [$('conditions').textContent, '', line(HEAD), line(HEAD.map((_, i) => isNumber(i) ? '--:' : '---')),
        ...rows.map(row => line(cellsOf(row))), ''].join('\n');
}

async function copy() {
    try {
        await navigator.clipboard.writeText(toMarkdown());
        say('The results are copied');
    } catch (error) {
        complain('The browser does not let this page copy', error);
    }
}

// ---- the page ------------------------------------------------------------------------------------

async function listEngines(peers) {
    const hasGpu = Boolean(await navigator.gpu?.requestAdapter().catch(() => undefined));
    for (const [library, backend, file] of ENGINES.filter(([, , file]) => !file || peers.includes(file))) {
        const lacks = backend === 'webgpu' && !hasGpu;
        const checked = !lacks && backend !== 'cpu', value = `${library} ${backend}`;
        const input = make('input', { type: 'checkbox', value, checked, disabled: lacks });
        $('engines').append(make('label', { className: 'check' }, input,
            `${LIBRARIES[library]}, ${BACKENDS[backend]}${lacks ? ' (not here)' : ''}`));
    }
}

async function use({ name, source }) {
    calm();
    $('start').disabled = true;
    try {
        const response = source instanceof URL ? await fetch(source) : new Response(source);
        if (!response.ok)
            throw new Error(`${response.status} ${response.statusText}`);
        model = { name, bytes: await response.arrayBuffer() };
        say(`${name}: ${(model.bytes.byteLength / 1e6).toFixed(1)} MB`);
        $('start').disabled = false;
    } catch (error) {
        complain(`${name} cannot be read`, error);
    }
}

async function start() {
    await listEngines((await fetchSite()).peers);
    await choice.start(HALVES); // not every library knows weights of 8 bits
}

const choice = makeModelChoice(use);
$('start').disabled = true;
$('form').addEventListener('submit', event => {
    event.preventDefault();
    measure();
});
$('stop').addEventListener('click', () => { stopped = true; });
$('copy').addEventListener('click', copy);
acceptFiles(([file]) => file && choice.take(file));
new ResizeObserver(() => requestAnimationFrame(drawCharts)).observe($('table'));
start().catch(error => complain('The page cannot start', error));
