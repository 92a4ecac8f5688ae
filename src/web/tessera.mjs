// Runs ONNX networks in browsers and in node: tessera.wasm, and what it asks of its host.
//
//     import { load } from './tessera.mjs';
//     const network = await load(bytes);                     // of an ONNX file
//     const { y } = await network.run({ x: new Float32Array(3 * 224 * 224) });
//     network.dispose();

import { makeGl } from './gl.mjs';

const LEVELS = ['error', 'warn', 'info', 'debug'];
const BACKENDS = { webgl: 'gles' }; // as the library calls them, where that differs
const BAD_FILE = 8; // WASI's errno: there are no files

let compiled; // what was compiled last, and of what: pages load several networks

async function read(source) {
    const url = new URL(source, import.meta.url);
    if (url.protocol === 'file:' && globalThis.process?.versions?.node)
        return (await import('node:fs/promises')).readFile(url);
    const response = await fetch(url);
    if (!response.ok)
        throw new Error(`${url}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}

async function compile(source) {
    if (source instanceof WebAssembly.Module)
        return source;
    if (typeof source !== 'string' && !(source instanceof URL))
        return WebAssembly.compile(source);
    const key = String(source);
    if (compiled?.key !== key)
        compiled = { key, module: read(source).then(bytes => WebAssembly.compile(bytes)) };
    const { module } = compiled;
    module.catch(() => { compiled = undefined; }); // may be tried again
    return module;
}

// An instance of the module, whose memory is its own.
async function start(module, log) {
    const decoder = new TextDecoder(), encoder = new TextEncoder();
    let exports, broken;
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
    // After a trap, or an exception of `log`, nothing in the memory can be relied on.
    const call = (name, ...args) => {
        if (broken)
            throw new Error(`tessera.wasm stopped earlier: ${broken.message}`, { cause: broken });
        try {
            return exports[name](...args);
        } catch (error) {
            broken = error;
            throw new Error(`tessera.wasm stopped: ${error.message}`, { cause: error });
        }
    };
    const fail = () => new Error(text(call('tsr_web_error')));
    // Calls fn with the address of `size` bytes.
    const borrow = (size, fn) => {
        const at = call('malloc', size + 1) >>> 0;
        if (!at)
            throw new Error(`no memory for ${size} bytes`);
        try {
            return fn(at);
        } finally {
            if (!broken)
                call('free', at);
        }
    };
    // Calls fn with the address of a string.
    const spell = (string, fn) => {
        const coded = encoder.encode(string);
        return borrow(coded.length, at => {
            bytes().set(coded, at);
            bytes()[at + coded.length] = 0;
            return fn(at);
        });
    };
    const wasi = {
        clock_time_get(id, precision, at) {
            view().setBigUint64(at >>> 0, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        fd_close: () => BAD_FILE,
        fd_seek: () => BAD_FILE,
        fd_write: () => BAD_FILE,
    };
    const host = { log: (level, message) => log(LEVELS[level], text(message)) };
    ({ exports } = await WebAssembly.instantiate(module, {
        tessera: host, wasi_snapshot_preview1: wasi, gl: makeGl({ memory: bytes, text, write, keep }),
    }));
    exports._initialize();
    if (log)
        call('tsr_web_log', 1);
    return { bytes, view, text, call, fail, borrow, spell };
}

// The structs of tsr_dim_binding, one after the other: a pointer, 8 bytes for each of the two.
function bindDims(wasm, dims, fn, done = []) {
    const left = Object.entries(dims).slice(done.length);
    if (left.length)
        return wasm.spell(left[0][0], at => bindDims(wasm, dims, fn, [...done, [at, left[0][1]]]));
    return wasm.borrow(16 * done.length, at => {
        done.forEach(([name, size], i) => {
            wasm.view().setUint32(at + 16 * i, name, true);
            wasm.view().setBigInt64(at + 16 * i + 8, BigInt(size), true);
        });
        return fn(at, done.length);
    });
}

function describe(wasm, session, output) {
    const count = wasm.call(output ? 'tsr_web_output_count' : 'tsr_web_input_count', session);
    return Array.from({ length: count }, (_, i) => Object.freeze({
        name: wasm.text(wasm.call('tsr_web_name', session, output, i)),
        dtype: wasm.text(wasm.call('tsr_web_dtype', session, output, i)),
        shape: Object.freeze(Array.from({ length: wasm.call('tsr_web_rank', session, output, i) },
            (_, axis) => wasm.call('tsr_web_dim', session, output, i, axis))),
    }));
}

function setInput(wasm, session, name, data) {
    if (!ArrayBuffer.isView(data) || data[Symbol.toStringTag] !== 'Float32Array')
        throw new TypeError(`input '${name}' is no Float32Array`);
    wasm.borrow(data.byteLength, at => {
        wasm.bytes().set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
        if (wasm.spell(name, n => wasm.call('tsr_web_set_input', session, n, at, data.length)))
            throw wasm.fail();
    });
}

function getOutput(wasm, session, { name, shape }) {
    const count = shape.reduce((product, size) => product * size, 1);
    return wasm.borrow(4 * count, at => {
        if (wasm.spell(name, n => wasm.call('tsr_web_get_output', session, n, at, count)))
            throw wasm.fail();
        return new Float32Array(wasm.bytes().slice(at, at + 4 * count).buffer);
    });
}

/**
 * Makes a network from the bytes (ArrayBuffer or a view of one) of an ONNX file.
 * Options: backend: 'cpu' or, in browsers, 'webgl'; dims: sizes of symbolic dimensions, { batch: 1 }; name: of the model,
 * in messages; log(level, message): gets the log's lines; wasm: tessera.wasm as a URL, as bytes or as a WebAssembly.Module, by
 * default the file beside this one.
 * The network has inputs and outputs, arrays of { name, dtype, shape }; run({ name: Float32Array }), which gives outputs
 * in the same form, also of integers (an input that is not given keeps its elements); dispose(), which frees it.
 * What fails throws an Error whose message says why.
 */
export async function load(bytes, { backend = 'cpu', dims = {}, name = 'model', log,
                                    wasm: source = new URL('tessera.wasm', import.meta.url) } = {}) {
    if (!ArrayBuffer.isView(bytes) && Object.prototype.toString.call(bytes) !== '[object ArrayBuffer]')
        throw new TypeError('load: the model is no ArrayBuffer and no view of one');
    const file = ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : new Uint8Array(bytes);
    let wasm = await start(await compile(source), log);
    const made = pointer => {
        if (!pointer)
            throw wasm.fail();
        return pointer;
    };
    const device = made(wasm.spell(BACKENDS[backend] ?? backend, at => wasm.call('tsr_web_device', at)));
    const model = made(wasm.borrow(file.length, at => {
        wasm.bytes().set(file, at);
        return wasm.spell(name, n => wasm.call('tsr_web_model', at, file.length, n));
    }));
    const session = made(bindDims(wasm, dims, (at, count) => wasm.call('tsr_web_session', device, model, at, count)));
    wasm.call('tsr_web_model_free', model); // the session has what it needs
    wasm.call('tsr_web_device_free', device);
    const inputs = Object.freeze(describe(wasm, session, 0)), outputs = Object.freeze(describe(wasm, session, 1));
    return {
        inputs,
        outputs,
        async run(values = {}) {
            if (!wasm)
                throw new Error(`${name}: run after dispose`);
            for (const [input, data] of Object.entries(values))
                setInput(wasm, session, input, data);
            if (wasm.call('tsr_web_run', session))
                throw wasm.fail();
            return Object.fromEntries(outputs.map(output => [output.name, getOutput(wasm, session, output)]));
        },
        dispose() {
            const last = wasm;
            wasm = undefined;
            last?.call('tsr_web_session_free', session);
        },
    };
}
