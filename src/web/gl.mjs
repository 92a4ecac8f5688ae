// WebGL 2 under the names of OpenGL ES, for src/gles/web: what the module imports from "gl". Objects are numbers there, 0 is none.

import { saveState } from './state.mjs';

// Objects by number; numbers are given anew.
class Table {
    #objects = [null];
    #free = [];
    add(object) {
        const number = this.#free.pop() ?? this.#objects.length;
        this.#objects[number] = object;
        return number;
    }
    get(number) {
        return this.#objects[number] ?? null;
    }
    take(number) {
        const object = this.get(number);
        if (object) {
            this.#objects[number] = null;
            this.#free.push(number);
        }
        return object;
    }
}

const CONTEXT = {
    alpha: false, antialias: false, depth: false, desynchronized: false, failIfMajorPerformanceCaveat: false,
    powerPreference: 'high-performance', premultipliedAlpha: false, preserveDrawingBuffer: false, stencil: false,
};
// Of a pixel, by the type of its components: bytes, integers, floats of 32 and 16 bits.
const ARRAYS = { 0x1401: Uint8Array, 0x1404: Int32Array, 0x1405: Uint32Array, 0x1406: Float32Array, 0x140b: Uint16Array };
const SYNC_GPU_COMMANDS_COMPLETE = 0x9117, MAJOR_VERSION = 0x821b, MINOR_VERSION = 0x821c;

// memory(): the module's bytes; text(at), write(string, at, size), keep(string): strings in them.
export function makeGl({ memory, text, write, keep }) {
    const contexts = new Table(), textures = new Table(), buffers = new Table(), framebuffers = new Table(),
        arrays = new Table(), samplers = new Table(), shaders = new Table(), programs = new Table(), syncs = new Table();
    const attached = new Map(); // shaders, by program
    const strings = new Map(), locations = [null]; // of uniforms, by their number less 1
    let gl, current = 0, own, page, restore, canvas; // own: the module's context; page: the page's, used if there is one

    const buffer = () => memory().buffer;
    const i32 = (at, count) => new Int32Array(buffer(), at >>> 0, count);
    const u32 = (at, count) => new Uint32Array(buffer(), at >>> 0, count);
    const f32 = (at, count) => new Float32Array(buffer(), at >>> 0, count);
    const generate = (table, create) => (count, at) => {
        const numbers = Array.from({ length: count }, () => table.add(gl[create]()));
        u32(at, count).set(numbers);
    };
    const remove = (table, destroy) => (count, at) => {
        for (const number of [...u32(at, count)])
            if (number)
                gl[destroy](table.take(number));
    };
    const parameter = (name, at) => {
        const value = name === MAJOR_VERSION ? 3 : name === MINOR_VERSION ? 0 : gl.getParameter(name);
        if (value?.length !== undefined)
            i32(at, value.length).set(value);
        else
            i32(at, 1)[0] = typeof value === 'number' || typeof value === 'boolean' ? Number(value) : 0;
    };

    const imports = {
        // ---- contexts
        createContext() {
            canvas = globalThis.OffscreenCanvas ? new OffscreenCanvas(1, 1) : globalThis.document?.createElement('canvas');
            own = page ?? canvas?.getContext('webgl2', CONTEXT);
            return own ? contexts.add(own) : 0;
        },
        destroyContext(context) {
            const taken = contexts.take(context);
            if (!page)
                taken?.getExtension('WEBGL_lose_context')?.loseContext();
            if (context === current)
                current = 0;
        },
        useContext(context) {
            const before = current;
            current = context;
            gl = contexts.get(context);
            restore?.();
            restore = page && gl && !gl.isContextLost() ? saveState(gl) : undefined;
            return before;
        },
        isContextLost: context => Number(contexts.get(context)?.isContextLost() ?? true),
        enableExtension: name => Number(gl.getExtension(text(name)) !== null),
        getRenderer(at, size) {
            const unmasked = gl.getExtension('WEBGL_debug_renderer_info');
            write(gl.getParameter(unmasked ? unmasked.UNMASKED_RENDERER_WEBGL : gl.RENDERER) ?? '', at, size);
        },

        // ---- waiting and reading back
        finish() { // gl.finish() does not wait
            const read = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING), drawn = gl.getParameter(gl.DRAW_FRAMEBUFFER_BINDING);
            gl.bindFramebuffer(gl.READ_FRAMEBUFFER, drawn);
            gl.readBuffer(drawn ? gl.COLOR_ATTACHMENT0 : gl.BACK);
            const format = gl.getParameter(gl.IMPLEMENTATION_COLOR_READ_FORMAT);
            const type = gl.getParameter(gl.IMPLEMENTATION_COLOR_READ_TYPE), Pixel = ARRAYS[type];
            if (Pixel)
                gl.readPixels(0, 0, 1, 1, format, type, new Pixel(4));
            gl.bindFramebuffer(gl.READ_FRAMEBUFFER, read);
        },
        testSync(sync) {
            const result = gl.clientWaitSync(syncs.get(sync), 0, 0);
            return result === gl.TIMEOUT_EXPIRED ? 0 : result === gl.WAIT_FAILED ? -1 : 1;
        },
        getBufferSubData: (at, size) => gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, memory(), at >>> 0, size),

        // ---- objects
        GenTextures: generate(textures, 'createTexture'),
        GenBuffers: generate(buffers, 'createBuffer'),
        GenFramebuffers: generate(framebuffers, 'createFramebuffer'),
        GenVertexArrays: generate(arrays, 'createVertexArray'),
        GenSamplers: generate(samplers, 'createSampler'),
        DeleteTextures: remove(textures, 'deleteTexture'),
        DeleteBuffers: remove(buffers, 'deleteBuffer'),
        DeleteFramebuffers: remove(framebuffers, 'deleteFramebuffer'),
        DeleteVertexArrays: remove(arrays, 'deleteVertexArray'),
        DeleteSamplers: remove(samplers, 'deleteSampler'),
        IsTexture: texture => Number(gl.isTexture(textures.get(texture))),
        FenceSync: () => syncs.add(gl.fenceSync(SYNC_GPU_COMMANDS_COMPLETE, 0)),
        DeleteSync: sync => gl.deleteSync(syncs.take(sync)),

        // ---- binding
        ActiveTexture: unit => gl.activeTexture(unit),
        BindTexture: (target, texture) => gl.bindTexture(target, textures.get(texture)),
        BindSampler: (unit, sampler) => gl.bindSampler(unit, samplers.get(sampler)),
        BindBuffer: (target, name) => gl.bindBuffer(target, buffers.get(name)),
        BindBufferBase: (target, index, name) => gl.bindBufferBase(target, index, buffers.get(name)),
        BindBufferRange: (target, index, name, from, size) => gl.bindBufferRange(target, index, buffers.get(name), from, size),
        BindFramebuffer: (target, name) => gl.bindFramebuffer(target, framebuffers.get(name)),
        BindVertexArray: name => gl.bindVertexArray(arrays.get(name)),

        // ---- buffers and textures
        BufferData(target, size, at, usage) {
            if (at)
                gl.bufferData(target, memory(), usage, at >>> 0, size);
            else
                gl.bufferData(target, size, usage);
        },
        BufferSubData: (target, from, size, at) => gl.bufferSubData(target, from, memory(), at >>> 0, size),
        CopyBufferSubData: (...values) => gl.copyBufferSubData(...values),
        TexParameteri: (target, name, value) => gl.texParameteri(target, name, value),
        SamplerParameteri: (sampler, name, value) => gl.samplerParameteri(samplers.get(sampler), name, value),
        TexStorage2D: (...values) => gl.texStorage2D(...values),
        TexStorage3D: (...values) => gl.texStorage3D(...values),
        // Always from the bound buffer: the last number is a place in it.
        TexSubImage2D: (...values) => gl.texSubImage2D(...values),
        TexSubImage3D: (...values) => gl.texSubImage3D(...values),
        PixelStorei: (name, value) => gl.pixelStorei(name, value),

        // ---- drawing
        FramebufferTexture2D: (target, attachment, kind, texture, level) =>
            gl.framebufferTexture2D(target, attachment, kind, textures.get(texture), level),
        FramebufferTextureLayer: (target, attachment, texture, level, layer) =>
            gl.framebufferTextureLayer(target, attachment, textures.get(texture), level, layer),
        CheckFramebufferStatus: target => gl.checkFramebufferStatus(target),
        DrawBuffers: (count, at) => gl.drawBuffers([...u32(at, count)]),
        ClearBufferfv: (kind, index, at) => gl.clearBufferfv(kind, index, f32(at, 4)),
        ClearBufferiv: (kind, index, at) => gl.clearBufferiv(kind, index, i32(at, 4)),
        ClearBufferuiv: (kind, index, at) => gl.clearBufferuiv(kind, index, u32(at, 4)),
        ReadBuffer: source => gl.readBuffer(source),
        ReadPixels: (...values) => gl.readPixels(...values), // to the bound buffer
        Viewport: (...values) => gl.viewport(...values),
        Scissor: (...values) => gl.scissor(...values),
        ColorMask: (...values) => gl.colorMask(...values.map(Boolean)),
        Enable: cap => gl.enable(cap),
        Disable: cap => gl.disable(cap),
        DrawArrays: (mode, first, count) => gl.drawArrays(mode, first, count),
        Flush: () => gl.flush(),

        // ---- programs
        CreateShader: kind => shaders.add(gl.createShader(kind)),
        ShaderSource(shader, count, at, lengths) {
            const parts = [...u32(at, count)];
            const sizes = lengths ? [...i32(lengths, count)] : [];
            gl.shaderSource(shaders.get(shader), parts.map((part, i) => text(part, sizes[i])).join(''));
        },
        CompileShader: shader => gl.compileShader(shaders.get(shader)),
        DeleteShader: shader => gl.deleteShader(shaders.get(shader)), // its number goes with its program's
        CreateProgram: () => programs.add(gl.createProgram()),
        AttachShader(program, shader) {
            attached.set(program, [...attached.get(program) ?? [], shader]);
            gl.attachShader(programs.get(program), shaders.get(shader));
        },
        GetAttachedShaders(program, most, count, at) {
            const numbers = attached.get(program) ?? [];
            i32(count, 1)[0] = numbers.length;
            u32(at, numbers.length).set(numbers);
        },
        LinkProgram: program => gl.linkProgram(programs.get(program)),
        UseProgram: program => gl.useProgram(programs.get(program)),
        DeleteProgram(program) {
            attached.get(program)?.forEach(shader => shaders.take(shader));
            attached.delete(program);
            gl.deleteProgram(programs.take(program));
        },
        GetProgramiv(program, name, at) {
            i32(at, 1)[0] = Number(gl.getProgramParameter(programs.get(program), name));
        },
        GetShaderiv(shader, name, at) {
            i32(at, 1)[0] = Number(gl.getShaderParameter(shaders.get(shader), name));
        },
        GetProgramInfoLog: (program, size, length, at) => write(gl.getProgramInfoLog(programs.get(program)) ?? '', at, size),
        GetShaderInfoLog: (shader, size, length, at) => write(gl.getShaderInfoLog(shaders.get(shader)) ?? '', at, size),
        GetUniformLocation(program, name) {
            const location = gl.getUniformLocation(programs.get(program), text(name));
            return location ? locations.push(location) - 1 : -1;
        },
        Uniform1i: (location, x) => gl.uniform1i(locations[location] ?? null, x),
        Uniform2f: (location, x, y) => gl.uniform2f(locations[location] ?? null, x, y),
        Uniform4iv: (location, count, at) => gl.uniform4iv(locations[location] ?? null, i32(at, 4 * count)),

        // ---- questions
        GetError: () => gl.getError(),
        GetIntegerv: parameter,
        GetBooleanv(name, at) {
            memory()[at >>> 0] = Number(Boolean(gl.getParameter(name)));
        },
        GetString(name) {
            const string = gl.getParameter(name) ?? '';
            if (!strings.has(string))
                strings.set(string, keep(string));
            return strings.get(string);
        },
    };
    return {
        imports,
        isLost: () => own?.isContextLost() ?? false,
        adopt: context => { page = context; },
        forgetErrors() { // of the page's calls
            while (page && !page.isContextLost() && page.getError())
                ;
        },
        // Calls fn with the number of a texture of the page's.
        lendTexture(texture, fn) {
            const number = textures.add(texture);
            try {
                return fn(number);
            } finally {
                textures.take(number);
            }
        },
        texture: number => textures.get(number),
        canvas: () => canvas, // of the context
    };
}
