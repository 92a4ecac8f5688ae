// What all pages have in common: messages, loading with progress, what the server offers, work offline.
import { load } from './tessera/tessera.mjs';

export const $ = id => document.getElementById(id);

/** An element with these properties and attributes (those with a hyphen, and role). */
export function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name.includes('-') || name === 'role')
            element.setAttribute(name, value);
        else
            element[name] = value;
    }
    element.append(...children);
    return element;
}

/** A labelled control. */
export const field = (text, control) => make('label', { className: 'field' }, text, control);

/** Replaces the choices of a select: pairs of a value and a text. */
export function fill(select, choices, value = select.value) {
    select.replaceChildren(...choices.map(([value, text]) => make('option', { value, textContent: text })));
    if (choices.some(choice => choice[0] === value))
        select.value = value;
}

// ---- messages ------------------------------------------------------------------------------------

/** Reads out and shows what happens. */
export function say(text) {
    $('status').textContent = text;
}

/** Shows an error as a sentence. */
export function complain(what, error) {
    const why = String(error?.message ?? error ?? '').trim().replace(`${what.split(' ')[0]}: `, ''); // a file's name, once
    $('alert').textContent = `${what}${why ? `: ${why}` : ''}${/[.!?]$/.test(why || what) ? '' : '.'}`;
    if (error)
        console.info(error); // its stack, for whoever looks for it
}

export function calm() {
    $('alert').textContent = '';
}

addEventListener('error', event => complain('Something failed in this page', event.error ?? event.message));
addEventListener('unhandledrejection', event => complain('Something failed in this page', event.reason));

/** With three digits. */
export const ms = value => value >= 1000 ? `${(value / 1000).toFixed(2)} s`
    : `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
export const shapeText = shape => shape.join(' × ');

// ---- networks ------------------------------------------------------------------------------------

export const SHIPPED = 'edges2emoji-int8.onnx', HALVES = 'edges2emoji.onnx'; // tools/web.sh makes the one of the other
export const BACKENDS = [['auto', 'The best that works here'], ['webgpu', 'WebGPU'], ['webgl', 'WebGL 2'], ['cpu', 'CPU (slow)']];
export const backendName = name => BACKENDS.find(([key]) => key === name)?.[1].replace(' (slow)', '') ?? name;

const STAGES = { download: 'Downloading', read: 'Reading', prepare: 'Preparing' };

function showProgress(name, { stage, fraction }) {
    $('loading').hidden = false;
    $('progress').value = fraction;
    $('stage').textContent = `${STAGES[stage] ?? stage} ${name} …`;
}

/** Holds one network: loading another ends the loading of the last one and frees it. */
export class Holder {
    network;
    #controller;

    /** The network; undefined if another was asked for meanwhile. */
    async open(model, options = {}) {
        this.#controller?.abort();
        this.network?.dispose();
        this.network = undefined;
        const { signal } = this.#controller = new AbortController();
        const name = options.name ?? String(model).replace(/.*\//, '');
        showProgress(name, { stage: 'download', fraction: 0 });
        try {
            const network = await load(model, {
                // The CPU would block the page.
                worker: options.backend === 'cpu', name, ...options, signal,
                onProgress: progress => signal.aborted || showProgress(name, progress),
            });
            if (signal.aborted)
                return network.dispose();
            return this.network = network;
        } catch (error) {
            if (!signal.aborted)
                throw error;
        } finally {
            if (!signal.aborted)
                $('loading').hidden = true;
        }
    }
}

/** 'WebGL 2, NVIDIA ...' */
export async function describeDevice(network) {
    const { device, precision } = await network.report();
    return [backendName(network.backend), device, precision === 'fp16' ? 'half floats' : ''].filter(Boolean).join(', ');
}

/** A function that has work done as often as it is called, but one at a time, and only once for calls meanwhile. */
export function makeLive(work) {
    let wanted = false, busy = false;
    return async () => {
        wanted = true;
        if (busy)
            return;
        busy = true;
        try {
            while (wanted) {
                await new Promise(requestAnimationFrame);
                wanted = false;
                await work();
            }
        } finally {
            busy = false;
        }
    };
}

/** The median of the latest times. */
export function makeClock(size = 15) {
    const times = [];
    return time => {
        times.push(time);
        if (times.length > size)
            times.shift();
        return [...times].sort((a, b) => a - b)[times.length >> 1];
    };
}

// ---- files ---------------------------------------------------------------------------------------

/** What the server offers: names of models and of other libraries. */
export async function fetchSite() {
    const response = await fetch('site.json');
    if (!response.ok)
        throw new Error(`site.json: ${response.status} ${response.statusText}; tools/web.sh pages makes it`);
    return response.json();
}

/** Calls take(files) for those that are dropped on the page, or pasted. */
export function acceptFiles(take) {
    const mark = on => document.body.classList.toggle('drop', on);
    addEventListener('dragover', event => {
        event.preventDefault();
        mark(true);
    });
    addEventListener('dragleave', event => mark(event.relatedTarget !== null));
    addEventListener('drop', event => {
        event.preventDefault();
        mark(false);
        take([...event.dataTransfer.files]);
    });
    addEventListener('paste', event => event.clipboardData.files.length && take([...event.clipboardData.files]));
}

export function save(blob, name) {
    const url = URL.createObjectURL(blob);
    make('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export async function saveCanvas(canvas, name) {
    const blob = await new Promise(done => canvas.toBlob(done));
    if (!blob)
        throw new Error('the browser makes no PNG of it');
    save(blob, name);
}

/** A button that opens the file input after it. */
export function linkFileButton(button, input, take) {
    button.addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
        take([...input.files]);
        input.value = ''; // the same file may be chosen again
    });
}

// ---- choosing a network --------------------------------------------------------------------------

/**
 * A select of the served networks and of files that were chosen: #model, #model-button, #model-file. Calls use({ name, source }),
 * where source is a URL or bytes, at each choice. Gives a function that takes a file, and start(name), which makes the first choice.
 */
export function makeModelChoice(use) {
    const sources = new Map(); // by name
    const list = name => fill($('model'), [...sources.keys()].map(key => [key, key]), name);
    const choose = () => use({ name: $('model').value, source: sources.get($('model').value) });
    const take = async file => {
        try {
            sources.set(file.name, await file.arrayBuffer());
            list(file.name);
            await choose();
        } catch (error) {
            complain(`${file.name} cannot be read`, error);
        }
    };
    $('model').addEventListener('change', choose);
    linkFileButton($('model-button'), $('model-file'), ([file]) => take(file));
    return {
        take,
        async start(first = SHIPPED) {
            try {
                const { models } = await fetchSite();
                for (const name of models.filter(file => file.endsWith('.onnx')))
                    sources.set(name, new URL(`models/${name}`, location.href));
                list(first);
                await choose();
            } catch (error) {
                complain('The list of networks cannot be read', error);
            }
        },
    };
}

// Pages work offline after their first visit.
if ('serviceWorker' in navigator && isSecureContext)
    navigator.serviceWorker.register('sw.js').catch(error => console.info(`not kept for use offline: ${error.message}`));
