// The libraries that are compared. Each opens a model and has run it once then: { first, device, run() }, in ms; first is the time
// from nothing: the start of a process, or a navigation.
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { inTime } from '../../demos/web/measuring.mjs';
import { tool } from '../../tests/support/browsers.mjs';

const inPage = (api, driver, backend) => ['tessera', 'tfjs', 'ort'].map(library => ({ api, place: 'page', driver, library, backend }));
const natively = (api, library, backend) => ({ api, place: 'native', library, backend });

export const ENGINES = [
    natively('GL on llvmpipe', 'tessera', 'gles'),
    ...inPage('GL on llvmpipe', 'llvmpipe', 'webgl'),
    ...inPage('GL on SwiftShader', 'swiftshader', 'webgl'),
    natively('WebGPU on SwiftShader', 'tessera', 'webgpu'),
    natively('WebGPU on SwiftShader', 'ort', 'webgpu'),
    ...inPage('WebGPU on SwiftShader', 'swiftshader', 'webgpu'),
];

// ---- processes -----------------------------------------------------------------------------------

// Calls of ask(line) resolve to the process's next line.
function startProcess([program, ...args], env) {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let complaint = '';
    child.stderr.on('data', data => { complaint += data; });
    child.stdin.on('error', () => {}); // of one that has ended: told below
    const ended = new Promise(resolve => { child.on('error', resolve).on('close', resolve); });
    const ask = async line => {
        child.stdin.write(`${line}\n`);
        const { value, done } = await lines.next();
        if (!done)
            return value;
        const error = await ended;
        throw new Error(error?.message ?? (complaint.trim() || `${program} ended without an answer`));
    };
    const close = async () => {
        child.kill('SIGKILL');
        await ended;
    };
    return { ask, close };
}

/** A process of its own, with these variables in its environment, which ends with close(); peers: where npm installed the others. */
export async function openProcess({ library, backend }, { model, peers, env, limit }) {
    const ort = [process.execPath, new URL('ort.mjs', import.meta.url).pathname, peers, model];
    const begin = performance.now();
    const { ask, close } = startProcess(library === 'ort' ? ort : [tool, 'bench', '--serve', backend, model], env);
    try {
        const device = (await inTime(ask('begin'), limit)).replace(/^\S+ \S+ \S+ \S+ /, '');
        return { first: performance.now() - begin, device, run: async () => Number(await ask('run')), close };
    } catch (error) {
        await close();
        throw error;
    }
}

// ---- pages ---------------------------------------------------------------------------------------

/** In a frame that shows demos/web/engine.html; models: the URL of their folder. */
export async function openFrame({ library, backend }, { frame, model, models, limit }) {
    const opened = await inTime(frame.evaluate(async (engine, url) => {
        const { randomInputs } = await import('./measuring.mjs'), response = await fetch(url), bytes = await response.arrayBuffer();
        if (!response.ok)
            throw new Error(`${url}: ${response.status}`);
        window.feeds = randomInputs(bytes);
        const shapes = Object.fromEntries(Object.entries(window.feeds).map(([name, { shape }]) => [name, shape]));
        const { device } = await window.engine.load({ ...engine, bytes, name: url, shapes });
        window.outputs = (await window.engine.run(window.feeds)).outputs;
        return { first: performance.now(), device };
    }, { library, backend }, `${models}${encodeURIComponent(basename(model))}`), limit);
    return { ...opened, run: () => frame.evaluate(async () => (await window.engine.run(window.feeds)).ms) };
}

/** Appends a frame for it to the page. */
export async function addFrame(page, url) {
    const handle = await page.evaluateHandle(source => new Promise(done => {
        const frame = Object.assign(document.createElement('iframe'), { src: source, onload: () => done(frame) });
        document.body.append(frame);
    }), url);
    return handle.contentFrame();
}
