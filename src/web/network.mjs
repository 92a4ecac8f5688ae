// A network on a device of this thread, which open.mjs makes.
import { bufferNumbers, checkBuffer, isBgra, openCanvas, outputBuffer } from './buffers.mjs';
import { release as releaseOperators } from './custom.mjs';
import { release, retire } from './device.mjs';
import { fail } from './module.mjs';
import { isPicture, makeCanvas, normalization, pictureShape, readPicture, toImageData } from './pictures.mjs';
import { sleep } from './tasks.mjs';

function describe({ wasm }, session, output) {
    const count = wasm.call(output ? 'tsr_web_output_count' : 'tsr_web_input_count', session);
    return Object.freeze(Array.from({ length: count }, (_, i) => Object.freeze({
        name: wasm.text(wasm.call('tsr_web_name', session, output, i)),
        dtype: wasm.text(wasm.call('tsr_web_dtype', session, output, i)),
        shape: Object.freeze(Array.from({ length: wasm.call('tsr_web_rank', session, output, i) },
            (_, axis) => wasm.call('tsr_web_dim', session, output, i, axis))),
    })));
}

function floatsOf(name, data) {
    if (data instanceof Float32Array || data?.[Symbol.toStringTag] === 'Float32Array')
        return data;
    if (ArrayBuffer.isView(data) && !(data instanceof DataView))
        return Float32Array.from(data, Number);
    return fail('INVALID_ARGUMENT', `input '${name}' is neither a Float32Array nor a picture`);
}

export class Network {
    #device;
    #session;
    #name;
    #log;
    #operators;
    #outputs;
    #last; // run that is in progress or waits
    #buffers = new Map(); // of outputs, by name
    #canvas; // webgpu: the context of the one that is drawn to

    constructor(device, session, name, log, operators) {
        this.#device = device;
        this.#session = session;
        this.#name = name;
        this.#log = log;
        this.#operators = operators;
        this.backend = device.backend;
        this.inputs = describe(device, session, 0);
        this.#outputs = describe(device, session, 1);
        Object.freeze(this);
    }

    /** Shapes that are known only after a run (on the CPU) are those of the latest one. */
    get outputs() {
        return this.#outputs;
    }

    // Calls fn(wasm, session); a device that fails so is given to no other network.
    #use(fn) {
        if (!this.#session)
            fail('INVALID_ARGUMENT', `${this.#name}: the network was disposed of`);
        try {
            return fn(this.#device.wasm, this.#session);
        } catch (error) {
            if (error.status === 'DEVICE_LOST' || this.#device.wasm.isBroken())
                retire(this.#device);
            throw error;
        }
    }

    #setPicture(name, { picture, crop, image = 0, layout = 'nchw', order, ...options }, range) {
        const info = this.inputs.find(input => input.name === name);
        const pixels = readPicture(picture, crop, info ? pictureShape(info, layout) : { width: 1, height: 1 });
        this.#use((wasm, session) => wasm.done(wasm.spell(name, n => wasm.lend(pixels.data, data =>
            wasm.lend(normalization(options, range), normal => wasm.call('tsr_web_set_pixels', session, n, data,
                pixels.width, pixels.height, image, Number(layout === 'nhwc'), Number(order === 'bgr'), normal))))));
    }

    #setTexture(name, { texture, width, height, columns = 1, tiles = 1, textureWidth = width, textureHeight = height,
                        factor = 1, summand = 0 }) {
        if (!this.#device.gl)
            fail('INVALID_ARGUMENT', `input '${name}': a texture needs the option gl, the context that it belongs to`);
        const numbers = Int32Array.of(width, height, columns, tiles, textureWidth, textureHeight);
        this.#use((wasm, session) => wasm.gl.lendTexture(texture, id => wasm.done(wasm.spell(name, n => wasm.lend(numbers, at =>
            wasm.call('tsr_web_set_texture', session, n, id, at, factor, summand))))));
    }

    // Calls fn(wasm, session, name's, buffer's and numbers' addresses).
    #useBuffer(name, value, shape, fn) {
        if (!this.#device.gpuDevice)
            fail('INVALID_ARGUMENT', `'${name}': a buffer needs the option gpuDevice, the device that it belongs to`);
        checkBuffer(name, value);
        return this.#use((wasm, session) => wasm.gpu.lend(value.buffer, id => wasm.done(wasm.spell(name, n =>
            wasm.lend(bufferNumbers(value, shape), at => fn(wasm, session, n, wasm.call('tsr_web_page_buffer', id), at))))));
    }

    #setBuffer(name, value) {
        const shape = this.inputs.find(input => input.name === name)?.shape ?? [];
        this.#useBuffer(name, value, shape, (wasm, session, n, buffer, at) => wasm.call('tsr_web_set_buffer', session, n, buffer, at));
    }

    #setInput(name, value, range) {
        if (isPicture(value))
            this.#setPicture(name, { picture: value }, range);
        else if (isPicture(value?.picture))
            this.#setPicture(name, value, range);
        else if (value?.texture)
            this.#setTexture(name, value);
        else if (value?.buffer && !ArrayBuffer.isView(value))
            this.#setBuffer(name, value);
        else
            this.#use((wasm, session) => {
                const floats = floatsOf(name, value);
                wasm.done(wasm.spell(name, n => wasm.lend(floats, at =>
                    wasm.call('tsr_web_set_input', session, n, at, floats.length))));
            });
    }

    #read({ name, shape }) {
        const count = shape.reduce((product, size) => product * size, 1);
        return this.#use((wasm, session) => wasm.borrow(4 * count, at => {
            wasm.done(wasm.spell(name, n => wasm.call('tsr_web_get_output', session, n, at, count)));
            return new Float32Array(wasm.bytes().slice(at, at + 4 * count).buffer);
        }));
    }

    // WebGPU tells of a loss soon after the failures that come of it.
    async #attempt(job) {
        try {
            return await job();
        } catch (error) {
            const { gpu } = this.#device;
            if (error.status !== 'DEVICE' || !gpu)
                throw error;
            await Promise.race([gpu.device.lost, new Promise(resolve => { setTimeout(resolve, 50); })]);
            if (gpu.lost === undefined)
                throw error;
            retire(this.#device);
            return fail('DEVICE_LOST', `${this.#name}: the WebGPU device was lost (${gpu.lost}): load the network again`, error);
        }
    }

    // One after the other; at once if none is in progress.
    #enqueue(job) {
        const later = () => (this.#session ? this.#attempt(job)
            : fail('CANCELLED', `${this.#name}: the network was disposed of before the run`));
        const result = this.#last ? this.#last.then(later) : this.#attempt(job);
        const settled = result.catch(() => {}).then(() => {
            if (this.#last === settled)
                this.#last = undefined;
        });
        this.#last = settled;
        return result;
    }

    #start(inputs, range, reads) {
        this.#device.wasm.gl.forgetErrors();
        for (const [name, value] of Object.entries(inputs))
            this.#setInput(name, value, range);
        this.#use((wasm, session) => wasm.done(wasm.call('tsr_web_submit', session, Number(reads))));
    }

    async #finish(reads) {
        const finished = () => {
            if (!this.#session)
                fail('CANCELLED', `${this.#name}: the network was disposed of during the run`);
            return this.#use((wasm, session) => wasm.done(wasm.call('tsr_web_poll', session)));
        };
        while (!finished())
            await sleep();
        if (!reads && this.#device.gpu) { // whose end, and whose errors, no result tells
            await this.#device.gpu.device.queue.onSubmittedWorkDone().catch(error => fail('DEVICE', error.message, error));
            await this.#device.wasm.gpu.settled();
            finished();
        }
    }

    async run(inputs = {}, { range, read = true } = {}) {
        return this.#enqueue(async () => {
            this.#start(inputs, range, read);
            await this.#finish(read);
            if (!read)
                return {};
            this.#outputs = this.#use((wasm, session) => describe({ wasm }, session, 1));
            return Object.fromEntries(this.outputs.map(output => [output.name, this.#read(output)]));
        });
    }

    #outputNamed(name = this.outputs[0].name) {
        return this.outputs.find(output => output.name === name) ??
            fail('INVALID_ARGUMENT', `${this.#name}: there is no output '${name}'`);
    }

    // Into the GL context's canvas, or the texture of this number.
    #draw({ name }, width, height, { image = 0, layout, order, range, ...options }, texture = 0, bgra = false) {
        this.#use((wasm, session) => wasm.done(wasm.spell(name, n => wasm.lend(normalization(options, range), normal =>
            wasm.call('tsr_web_draw', session, n, width, height, image, Number(layout === 'nhwc'), Number(order === 'bgr'), normal,
                texture, Number(bgra))))));
    }

    #drawTexture(output, texture, options) {
        const bgra = isBgra(texture);
        this.#device.wasm.gpu.lend(texture, id => this.#draw(output, texture.width, texture.height, options, id, bgra));
    }

    // The canvas that is drawn to, if no elements have to be read.
    #findCanvas() {
        const { backend } = this, { gl, gpu, wasm } = this.#device;
        if (backend === 'webgpu')
            return (this.#canvas ??= openCanvas(gpu.device))?.canvas;
        return backend === 'webgl' && !gl && globalThis.OffscreenCanvas ? wasm.gl.canvas() : undefined;
    }

    #drawBitmap(output, canvas, width, height, options) {
        Object.assign(canvas, { width, height });
        if (this.#canvas)
            this.#drawTexture(output, this.#canvas.getCurrentTexture(), options);
        else
            this.#draw(output, width, height, options);
        return canvas.transferToImageBitmap();
    }

    /** Runs, and draws an output, scaled to that size: an ImageBitmap. */
    async draw(inputs, width, height, { output: name, ...options } = {}) {
        return this.#enqueue(async () => {
            const output = this.#outputNamed(name);
            pictureShape(output, options.layout);
            const canvas = this.#findCanvas();
            this.#start(inputs, options.range, !canvas);
            const bitmap = canvas && this.#drawBitmap(output, canvas, width, height, options);
            await this.#finish(!canvas);
            if (bitmap)
                return bitmap;
            const pixels = toImageData(this.#read(output), output, options, options.range);
            return createImageBitmap(pixels, { resizeWidth: width, resizeHeight: height, resizeQuality: 'medium' });
        });
    }

    /** Runs, and draws an output into a GPUTexture of the page's device. */
    async drawInto(inputs, texture, { output: name, ...options } = {}) {
        return this.#enqueue(async () => {
            const output = this.#outputNamed(name);
            if (!this.#device.gpuDevice)
                fail('INVALID_ARGUMENT', 'render: a texture needs the option gpuDevice, the device that it belongs to');
            pictureShape(output, options.layout);
            this.#start(inputs, options.range, false);
            this.#drawTexture(output, texture, options);
            await this.#finish(false);
        });
    }

    // The work is submitted before it returns; what is awaited are errors.
    async outputBuffer(name, { buffer, offset = 0, dtype = 'float32', layout = 'nchw' } = {}) {
        const output = this.#outputNamed(name), { gpuDevice } = this.#device;
        const own = buffer || !gpuDevice ? undefined : outputBuffer(gpuDevice, this.#buffers.get(output.name), output, dtype);
        if (own)
            this.#buffers.set(output.name, own);
        const to = { buffer: buffer ?? own, offset, dtype, layout };
        return this.#attempt(async () => {
            this.#useBuffer(output.name, to, output.shape, (wasm, session, n, at, numbers) =>
                wasm.call('tsr_web_get_buffer', session, n, at, numbers));
            await this.#device.wasm.gpu.settled();
            this.#use((wasm, session) => wasm.done(wasm.call('tsr_web_poll', session)));
            return to;
        });
    }

    outputTexture(name) {
        this.#outputNamed(name);
        return this.#use((wasm, session) => wasm.borrow(4 * 7, at => {
            wasm.done(wasm.spell(name, n => wasm.call('tsr_web_output_texture', session, n, at)));
            const [id, width, height, columns, tiles, textureWidth, textureHeight] =
                new Int32Array(wasm.bytes().slice(at, at + 4 * 7).buffer);
            return { texture: wasm.gl.texture(id), width, height, columns, tiles, textureWidth, textureHeight };
        }));
    }

    async report() {
        return this.#use((wasm, session) => wasm.borrow(8 * 16, numbers => wasm.borrow(4 * 5, texts => {
            const doubles = () => new Float64Array(wasm.bytes().slice(numbers, numbers + 8 * 16).buffer);
            wasm.done(wasm.call('tsr_web_report', session, numbers));
            const [half, passes, programs, macs, tensorBytes, weightBytes, compileMs, count] = doubles();
            const nodes = Array.from({ length: count }, (_, i) => {
                wasm.done(wasm.call('tsr_web_node_report', session, i, texts, numbers));
                const [nodeMacs, nodePasses, rank, ...dims] = doubles();
                const [name, op, output, backend, kernel] =
                    Array.from({ length: 5 }, (__, j) => wasm.text(wasm.view().getUint32(texts + 4 * j, true)));
                return { name, op, output, backend, kernel, shape: dims.slice(0, rank), macs: nodeMacs, passes: nodePasses };
            });
            return { backend: this.backend, device: this.#device.name, precision: half ? 'fp16' : 'fp32', passes, programs, macs,
                     tensorBytes, weightBytes, compileMs, nodes };
        })));
    }

    dispose() {
        if (this.#device.wasm.isBusy())
            fail('INVALID_ARGUMENT', `${this.#name}: functions of the page that the library calls must not dispose of the network`);
        const session = this.#session;
        this.#session = undefined;
        if (!session)
            return;
        if (!this.#device.wasm.isBroken())
            this.#device.wasm.call('tsr_web_session_free', session);
        this.#buffers.forEach(buffer => buffer.destroy());
        releaseOperators(this.#operators);
        release(this.#device, this.#log);
    }
}
if (Symbol.dispose)
    Network.prototype[Symbol.dispose] = Network.prototype.dispose;
