// The WebAssembly modules: compiled once, instantiated for each device, and what they ask of their host.
import { makeGl } from './gl.mjs';
import { makeGpu } from './gpu.mjs';

const LEVELS = ['error', 'warn', 'info', 'debug'];
const BAD_FILE = 8; // WASI's errno: there are no files
const NOT_SUPPORTED = 52; // WASI's errno, too
const SLICE = 2 ** 20; // bytes that are copied at once
const NOT_READY = 1; // TSR_NOT_READY
const INNER = /^(tsr_web_call_|tsr_web_error$|tsr_web_status_name$|malloc$|free$)/; // what such functions may call

/** Why something failed. */
export class TesseraError extends Error {
    constructor(status, message, options) {
        super(message, options);
        this.name = 'TesseraError';
        this.status = status;
    }
}

export const fail = (status, message, cause) => {
    throw new TesseraError(status, message, cause && { cause });
};

/** What ordinary networks need, by backend; everything. */
export const SMALL = {
    cpu: new URL('tessera-webgl.wasm', import.meta.url),
    webgl: new URL('tessera-webgl.wasm', import.meta.url),
    webgpu: new URL('tessera-webgpu.wasm', import.meta.url),
};
export const FULL = new URL('tessera.wasm', import.meta.url);

const compiled = new Map(); // by URL, promises

/** Is this node, and the source no URL of a server? */
export const isFile = source => Boolean(globalThis.process?.versions?.node) && !/^https?:/.test(String(source));

/** A file's bytes, in node. */
export async function readFile(source) {
    const fs = 'node:fs/promises'; // which bundlers do not look for
    const { readFile: read } = await import(/* webpackIgnore: true */ /* @vite-ignore */ fs);
    const from = /^file:/.test(String(source)) ? new URL(source) : source;
    return new Uint8Array(await read(from).catch(error => fail('IO', error.message, error)));
}

/** A server's answer, which is not an error. */
export async function request(url, signal) {
    let response;
    try {
        response = await fetch(url, { signal });
    } catch (error) {
        signal?.throwIfAborted();
        fail('IO', `${url} cannot be fetched (no connection, or its server allows no other origins): ${error.message}`, error);
    }
    if (!response.ok)
        fail('IO', `${url}: ${response.status} ${response.statusText}`);
    return response;
}

// Waits for a promise of WebAssembly's. A node whose loop has nothing to do until then would wait for its compiler's threads,
// and these may wait for it (github.com/nodejs/node/issues/54918): the timer keeps the loop going.
async function busyUntil(promise) {
    const timer = setInterval(() => {}, 1000);
    try {
        return await promise;
    } finally {
        clearInterval(timer);
    }
}

const read = async source => (isFile(source) ? readFile(source) : (await request(source)).arrayBuffer());

/** A WebAssembly.Module of a URL, of bytes, or of what is one. */
export async function compile(source) {
    if (source instanceof WebAssembly.Module)
        return source;
    if (typeof source !== 'string' && !(source instanceof URL))
        return busyUntil(WebAssembly.compile(source));
    const key = String(source);
    if (!compiled.has(key))
        compiled.set(key, read(source).then(bytes => busyUntil(WebAssembly.compile(bytes)).catch(error =>
            fail('IO', `${key} is no WebAssembly module (the option wasm names another): ${error.message}`, error))));
    const module = compiled.get(key);
    module.catch(() => compiled.delete(key)); // may be tried again
    return module;
}

// The kernels' texts, which the module carries compressed (exports.c).
function inflateKernels(module) {
    const [section] = WebAssembly.Module.customSections(module, 'kernels');
    return new Response(new Response(section).body.pipeThrough(new DecompressionStream('deflate'))).text();
}

/**
 * An instance, whose memory is its own. log(level, message) receives the library's log; callOperator: see custom.mjs; gpu: of
 * openGpu(), for the backend webgpu.
 */
export async function instantiate(module, { log, callOperator, gpu }) {
    const decoder = new TextDecoder(), encoder = new TextEncoder();
    let exports, broken, depth = 0, fraction = 0; // depth: of calls, inside which functions of the page's are called
    const bytes = () => new Uint8Array(exports.memory.buffer); // anew each time: memory may have grown
    const view = () => new DataView(exports.memory.buffer);
    // Up to its NUL, or of `length` bytes.
    const text = (at, length = -1) => {
        const from = at >>> 0;
        return at ? decoder.decode(bytes().subarray(from, length < 0 ? bytes().indexOf(0, from) : from + length)) : '';
    };
    // As much of a string as fits in `size` bytes with its NUL.
    const write = (string, at, size) => {
        const { written } = encoder.encodeInto(string, bytes().subarray(at >>> 0, (at >>> 0) + size - 1));
        bytes()[(at >>> 0) + written] = 0;
    };
    // A string that stays.
    const keep = string => {
        const size = encoder.encode(string).length + 1, at = exports.malloc(size);
        if (at)
            write(string, at, size);
        return at;
    };
    // After a trap nothing in the memory can be relied on.
    const call = (name, ...args) => {
        if (depth && !INNER.test(name))
            fail('INVALID_ARGUMENT', 'functions of the page that the library calls must not call it');
        if (broken)
            fail('DEVICE', `the module stopped earlier: ${broken.message}`, broken);
        depth++;
        try {
            return exports[name](...args);
        } catch (error) {
            broken = error;
            return fail('DEVICE', `the module stopped: ${error.message}`, error);
        } finally {
            depth--;
        }
    };
    // The message is told once: a small module may fail without one.
    const failure = () => {
        const at = call('tsr_web_error') >>> 0, message = text(at);
        bytes()[at] = 0;
        return new TesseraError(text(call('tsr_web_status_name')),
            message || 'no message: only tessera.wasm has all operators and messages');
    };
    // Of a call that gives a pointer, which is not NULL.
    const made = pointer => {
        if (!pointer)
            throw failure();
        return pointer;
    };
    // Of a call that gives a status: is it done?
    const done = status => {
        if (status && status !== NOT_READY)
            throw failure();
        return !status;
    };
    // Calls fn with the address of `size` bytes.
    const borrow = (size, fn) => {
        const at = call('malloc', size + 1) >>> 0;
        if (!at)
            fail('OUT_OF_MEMORY', `no memory for ${size} bytes`);
        try {
            return fn(at);
        } finally {
            if (!broken)
                call('free', at);
        }
    };
    // Calls fn with the address of a copy of bytes.
    const lend = (data, fn) => borrow(data.byteLength, at => {
        bytes().set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
        return fn(at);
    });
    // Calls fn with the address of a string.
    const spell = (string, fn) => lend(encoder.encode(`${string}\0`), fn);
    // The address of a copy of a file; the page rests between parts of that.
    const copyFile = async (file, rest) => {
        const at = call('malloc', file.length) >>> 0 || fail('OUT_OF_MEMORY', `no memory for ${file.length} bytes`);
        try {
            for (let from = 0; from < file.length; from += SLICE) {
                bytes().set(file.subarray(from, from + SLICE), at + from);
                await rest();
            }
            return at;
        } catch (error) {
            call('free', at);
            throw error;
        }
    };
    // A model's handle; the copy of its file is gone with it.
    const readModel = (at, size, name) => made(spell(name, n => call('tsr_web_model', at, size, n)));
    const wasi = {
        clock_time_get(id, precision, at) {
            view().setBigUint64(at >>> 0, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        fd_close: () => BAD_FILE,
        fd_seek: () => BAD_FILE,
        fd_write: () => BAD_FILE,
        random_get(at, size) {
            if (!globalThis.crypto) // in node 18
                return NOT_SUPPORTED;
            crypto.getRandomValues(bytes().subarray(at >>> 0, (at >>> 0) + size));
            return 0;
        },
    };
    const host = {
        callOperator,
        log: (level, message) => log(LEVELS[level], text(message)),
        progress: value => { fraction = value; },
    };
    const gl = makeGl({ memory: bytes, text, write, keep }), webgpu = makeGpu({ memory: bytes, text, write }, gpu);
    ({ exports } = await busyUntil(WebAssembly.instantiate(module, {
        Math, tessera: host, wasi_snapshot_preview1: wasi, gl: gl.imports, gpu: webgpu.imports,
    })));
    exports._initialize();
    call('tsr_web_kernels', keep(await inflateKernels(module)) || fail('OUT_OF_MEMORY', "no memory for the kernels' texts"));
    return { bytes, view, text, call, made, done, borrow, lend, spell, copyFile, readModel, gl, gpu: webgpu, progress: () => fraction, isBroken: () => broken !== undefined, isBusy: () => depth > 0 };
}
