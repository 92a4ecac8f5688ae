// Measures Tessera and other libraries on the same models in turns; a table on stdout. tools/compare_peers.sh has the options.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { inTime, largestDifference, summarise, turns } from '../../demos/web/measuring.mjs';
import { launch, root, tool } from '../../tests/support/browsers.mjs';
import { addFrame, ENGINES, openFrame, openProcess } from './engines.mjs';
import { toMarkdown } from './table.mjs';

const number = value => ({ type: 'string', default: value });
const { values: options, positionals: models } = parseArgs({
    allowPositionals: true,
    options: {
        starts: number('3'), runs: number('9'), seconds: number('240'), limit: number('120'),
        only: { type: 'string', default: '' }, peers: { type: 'string', default: `${root}/build-web/peers` },
    },
});
const [starts, runs, seconds, limit] = ['starts', 'runs', 'seconds', 'limit'].map(name => {
    const value = Number(options[name]);
    if (!(value >= 1))
        throw new Error(`--${name} expects a number, 1 or more, not '${options[name]}'`);
    return value;
});
const only = new RegExp(options.only, 'i');
const say = text => process.stderr.write(`${text}\n`);
const nameOf = ({ library, place, backend, api }) => `${library} ${backend}, ${place}, ${api}`;

// ---- one model -----------------------------------------------------------------------------------

// Of what a process complained, the line that names the error.
function fail(row, error) {
    const lines = String(error?.message ?? error).split('\n').filter(line => line.trim());
    row.error = lines.find(line => line.includes('Error: ')) ?? lines[0] ?? 'failed';
}

// Calls fn(env) with empty caches of drivers and libraries; a browser makes itself an empty profile.
async function withEmptyCaches(fn) {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-peers-'));
    const env = { XDG_CACHE_HOME: folder, MESA_SHADER_CACHE_DIR: folder };
    try {
        return await fn(env);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

// Calls fn(page, url, URL of the model's folder) with an empty page of a fresh browser.
async function withPage(driver, model, env, fn) {
    const folders = { '/measured/': dirname(model), '/': `${root}/build-web/site` };
    const { browser, url, close } = await launch(driver, folders, env);
    try {
        return await fn(await browser.newPage(), url, `${url}measured/`);
    } finally {
        await close();
    }
}

const openPage = (engine, model, env) => withPage(engine.driver, model, env, async (page, url, folder) => {
    await page.goto(`${url}engine.html`);
    return openFrame(engine, { frame: page.mainFrame(), model, models: folder, limit });
});

// From nothing to the first result.
async function start(engine, model, env) {
    if (engine.place === 'page')
        return (await openPage(engine, model, env)).first;
    const { first, close } = await openProcess(engine, { model, peers: options.peers, env, limit });
    await close();
    return first;
}

async function startAll(rows, model) {
    for (let i = 0; i < starts; i++)
        for (const row of rows.filter(({ error }) => !error)) {
            await withEmptyCaches(env => start(row.engine, model, env)).then(first => row.firsts.push(first), error => fail(row, error));
            say(`${basename(model)}: ${nameOf(row.engine)}: ${row.error ?? `first run ${row.firsts.at(-1).toFixed(0)} ms`}`);
        }
}

// Two runs of each a round. The second counts: the first, after others' runs, is slower, as caches are cold and threads may
// begin on one core.
async function runInTurns(rows, model) {
    for (let i = 0; i < runs; i++) {
        const due = turns(rows.filter(({ run, error }) => run && !error), i, seconds);
        say(`${basename(model)}: round ${i + 1} of ${runs}, ${due.length} engines`);
        for (const row of due)
            for (let run = 0; run < 2 && !row.error; run++)
                await inTime(row.run(), limit).then(ms => row.times.push(ms), error => fail(row, error));
    }
}

// What the frames of a page computed, against what the first of them did.
async function compareOutputs(rows) {
    const [reference, ...others] = rows.filter(({ frame, error }) => frame && !error);
    const outputs = ({ frame }) => frame.evaluate(() => window.outputs.map(list => [...list]));
    for (const row of others)
        row.difference = largestDifference(await outputs(reference), await outputs(row));
}

const open = (row, opening) => opening.then(opened => Object.assign(row, opened), error => fail(row, error));

// Opens the rows of these drivers, each driver's in one page, then calls fn.
async function withFrames(rows, model, env, [driver, ...others], fn) {
    const mine = rows.filter(({ engine, error }) => engine.driver === driver && !error);
    if (!driver)
        return fn();
    if (!mine.length)
        return withFrames(rows, model, env, others, fn);
    return withPage(driver, model, env, async (page, url, folder) => {
        await page.goto(`${url}support/empty.html`);
        for (const row of mine) {
            row.frame = await addFrame(page, `${url}engine.html`);
            await open(row, openFrame(row.engine, { frame: row.frame, model, models: folder, limit }));
        }
        await compareOutputs(mine);
        return withFrames(rows, model, env, others, fn);
    });
}

async function runSteadily(rows, model, env) {
    for (const row of rows.filter(({ engine, error }) => engine.place === 'native' && !error))
        await open(row, openProcess(row.engine, { model, peers: options.peers, env, limit }));
    const drivers = [...new Set(rows.map(({ engine }) => engine.driver).filter(Boolean))];
    try {
        await withFrames(rows, model, env, drivers, () => runInTurns(rows, model));
    } finally {
        await Promise.all(rows.map(({ close }) => close?.()));
    }
}

async function measure(model) {
    const engines = ENGINES.filter(engine => only.test(nameOf(engine)));
    if (!engines.length)
        throw new Error(`--only ${options.only}: no engine is called so: ${ENGINES.map(nameOf).join('; ')}`);
    const rows = engines.map(engine => ({ model: basename(model, '.onnx'), engine, firsts: [], times: [] }));
    await startAll(rows, model);
    await withEmptyCaches(env => runSteadily(rows, model, env)).catch(error => {
        rows.filter(({ error: told }) => !told).forEach(row => fail(row, error));
    });
    return rows.map(row => {
        const times = row.times.filter((_, i) => i % 2);
        return { ...row, times, first: summarise(row.firsts).median, steady: summarise(times) };
    });
}

// ---- all -----------------------------------------------------------------------------------------

function output(program, ...args) {
    try {
        return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
        return `no ${program}`;
    }
}

function versions() {
    const of = name => {
        try {
            return JSON.parse(readFileSync(`${options.peers}/node_modules/${name}/package.json`, 'utf8')).version;
        } catch {
            return 'missing';
        }
    };
    return [`Tessera ${output('git', '-C', root, 'describe', '--always', '--dirty')}`, `TF.js ${of('@tensorflow/tfjs-core')}`,
        `ONNX Runtime Web ${of('onnxruntime-web')}`, `onnxruntime-node ${of('onnxruntime-node')}`,
        output('chromium', '--version'), `Node ${process.version}`].join(', ');
}

const loads = [loadavg()[0]], rows = [];
for (const model of models) {
    rows.push(...await measure(resolve(model)));
    loads.push(loadavg()[0]);
}
const list = cpus();
process.stdout.write(toMarkdown(rows, {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '), versions: versions(), starts, runs,
    machine: `${list.length} × ${list[0]?.model ?? 'unknown'}, load ${loads.map(x => x.toFixed(1)).join(', ')}`,
}));
process.exitCode = rows.some(({ engine, error }) => engine.library === 'tessera' && error) ? 1 : 0;
