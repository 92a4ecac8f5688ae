// How pages use a backend, in a browser: pictures, rendering, workers, several networks, lost contexts, slices of work, memory.
// Usage: node web_use.mjs [llvmpipe|swiftshader|firefox] [webgl|webgpu], after tools/web.sh build. See support/browsers.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, tool, withPage } from './support/browsers.mjs';

const [driver = 'llvmpipe', backend = 'webgl'] = process.argv.slice(2);

// In the page, before the tests.
async function setUp() {
    globalThis.chain = (await import('/support/onnx_model.mjs')).chain;
    globalThis.random = count => Float32Array.from({ length: count }, () => Math.random() * 2 - 1);
    globalThis.picture = (width, height) => {
        const image = new ImageData(width, height);
        image.data.forEach((_, i) => { image.data[i] = i % 4 === 3 ? 255 : Math.floor(Math.random() * 256); });
        return image;
    };
    globalThis.near = (what, a, b, tolerance) => {
        const error = a.length === b.length ? a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0) : Infinity;
        if (!(error <= tolerance))
            throw new Error(`${what}: off by ${error}, of ${a.length} and ${b.length} elements`);
    };
    globalThis.failure = promise => promise.then(() => ({ status: 'none' }), error => ({ status: error.status, message: error.message }));
}

// Elements that (value - mean) * scale gives, [3, height, width].
const tests = {
    'pictures as inputs': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const width = 37, height = 23, image = picture(width, height), count = width * height;
        const network = await load(chain([1, 3, height, width], ['Identity', 'Neg']), { backend });
        const elements = (mean, scale, order = [0, 1, 2]) => Float32Array.from({ length: 3 * count }, (_, i) =>
            -(image.data[4 * (i % count) + order[Math.floor(i / count)]] - mean) * scale);
        const canvas = Object.assign(document.createElement('canvas'), { width, height });
        canvas.getContext('2d').putImageData(image, 0, 0);
        const off = new OffscreenCanvas(width, height);
        off.getContext('2d').putImageData(image, 0, 0);
        const bitmap = await createImageBitmap(image), shown = new Image();
        shown.src = canvas.toDataURL();
        await shown.decode();
        const video = new VideoFrame(canvas, { timestamp: 0 });
        for (const [what, x] of Object.entries({ image, canvas, off, bitmap, shown, video })) {
            near(what, (await network.run({ x })).y, elements(0, 1 / 255), 1e-6);
            near(`${what} of -1 to 1`, (await network.run({ x }, { range: [-1, 1] })).y, elements(127.5, 2 / 255), 1e-6);
        }
        near('bgr', (await network.run({ x: { picture: image, order: 'bgr', mean: 100, scale: 0.5 } })).y, elements(100, 0.5, [2, 1, 0]), 1e-4);
        const wide = new OffscreenCanvas(width + 9, height + 5);
        wide.getContext('2d').putImageData(image, 4, 3);
        near('crop', (await network.run({ x: { picture: wide, crop: { x: 4, y: 3, width, height } } })).y, elements(0, 1 / 255), 1e-6);
        const flat = new OffscreenCanvas(640, 480).getContext('2d');
        flat.fillStyle = 'rgb(51, 102, 204)';
        flat.fillRect(0, 0, 640, 480);
        const scaled = (await network.run({ x: flat.canvas })).y;
        near('scaled', scaled, Float32Array.from({ length: 3 * count }, (_, i) => -[0.2, 0.4, 0.8][Math.floor(i / count)]), 1e-6);
        near('floats', (await network.run({ x: new Uint8Array(3 * count).fill(7) })).y, new Float32Array(3 * count).fill(-7), 0);
        const said = await failure(network.run({ x: new Image() }));
        network.dispose();
        video.close();
        return said.status === 'INVALID_ARGUMENT' && said.message.includes('loaded') ? '' : JSON.stringify(said);
    },

    'rendering into canvases': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const width = 20, height = 12, image = picture(width, height);
        const network = await load(chain([1, 3, height, width], ['Neg', 'Neg']), { backend });
        const pixelsOf = canvas => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
            copy.drawImage(canvas, 0, 0);
            return copy.getImageData(0, 0, canvas.width, canvas.height).data;
        };
        const drawn = Object.assign(document.createElement('canvas'), { width, height });
        const shown = Object.assign(document.createElement('canvas'), { width, height });
        drawn.getContext('2d');
        for (const canvas of [drawn, shown, new OffscreenCanvas(width, height)]) {
            await network.render({ x: image }, canvas);
            near('rendered', pixelsOf(canvas), image.data, 1);
            await network.render({ x: image }, canvas, { range: [-1, 1] });
            near('of -1 to 1', pixelsOf(canvas), image.data, 1);
        }
        const turned = drawn.getContext('2d'); // whose state is the page's business
        Object.assign(turned, { globalAlpha: 0.5, globalCompositeOperation: 'destination-over' }).scale(3, 2);
        await network.render({ x: image }, drawn);
        near('in spite of a transform', pixelsOf(drawn), image.data, 1);
        if (turned.globalAlpha !== 0.5 || turned.getTransform().a !== 3)
            return "the canvas's state has changed";
        const large = Object.assign(document.createElement('canvas'), { width: 3 * width, height: 2 * height });
        await network.render({ x: picture(1, 1) }, large);
        const all = pixelsOf(large);
        near('enlarged', all, Uint8Array.from(all, (_, i) => all[i % 4]), 1);
        const occupied = document.createElement('canvas');
        occupied.getContext('webgl2');
        const said = [await failure(network.render({}, occupied)), await failure(network.render({}, drawn, { output: 'z' }))];
        network.dispose();
        const flat = await load(chain([3, 7], ['Neg']), { backend });
        said.push(await failure(flat.render({ x: new Float32Array(21) }, drawn)));
        flat.dispose();
        const statuses = said.map(({ status }) => status).join();
        return statuses === 'INVALID_ARGUMENT,INVALID_ARGUMENT,none' ? '' : JSON.stringify(said);
    },

    'the first backend that works': async () => {
        const { load } = await import('/web/tessera.mjs');
        const network = await load(chain([1, 4, 5, 5], ['Neg']), {}), x = random(100); // WebGPU is a software adapter's here
        near(network.backend, (await network.run({ x })).y, x.map(value => -value), 0);
        network.dispose();
        const tall = await load(chain([40000, 1], ['Neg']), {}), y = (await tall.run({ x: random(40000) })).y;
        tall.dispose();
        const said = await failure(load(chain([2], ['Mystery']), {}));
        return network.backend === 'webgl' && y.length === 40000 && said.status === 'UNSUPPORTED' && /Mystery/.test(said.message) ? ''
            : `${network.backend} ${JSON.stringify(said)}`;
    },

    'custom operators': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const wave = {
            name: 'Wave', attributes: { gain: 3 },
            compute: ([x], y, { gain }) => x.data.forEach((value, i) => { y.data[i] = gain * Math.sin(value); }),
            glsl: 'return ATTR_gain * sin(IN0(n, c, y, x));', wgsl: 'return ATTR_gain * sin(IN0(n, c, y, x));',
        };
        const model = chain([1, 5, 7, 9], ['Neg', 'Wave', 'Relu']), x = random(315);
        for (const one of [backend, 'cpu']) {
            const network = await load(model, { backend: one, customOps: [wave] });
            const tolerance = one === 'cpu' ? 1e-5 : 3 * 2 ** -11; // of sin, as Vulkan allows
            near(one, (await network.run({ x })).y, x.map(value => Math.max(0, 3 * Math.sin(-value))), tolerance);
            network.dispose();
        }
        const calls = [];
        const inner = await load(model, { backend: 'cpu', customOps: [{ ...wave, compute: () => {
            calls.push(failure(inner.run({ x })));
            inner.dispose();
        } }] });
        const whole = await load(model, { backend: 'cpu', customOps: [{ ...wave, compute: () => { throw null; } }] });
        calls.push(failure(inner.run({ x })), failure(whole.run({ x })));
        await calls[0];
        const thrown = (await Promise.all(calls)).map(({ status, message }) => `${status} ${/must not|null/.exec(message)?.[0]}`).join();
        inner.dispose();
        whole.dispose();
        const said = [
            await failure(load(model, { backend })),
            await failure(load(model, { backend, customOps: [{ ...wave, glsl: 'return 1.0;\nreturn nothing;', wgsl: 'return 1.0;\nreturn nothing;' }] })),
            await failure(load(model, { backend, customOps: [{ name: 'Wave' }] })),
            await failure(load(model, { backend, customOps: [wave], worker: true })),
        ];
        const words = said.map(({ status, message }) => `${status} ${/body: .*(0:2|line 2)|supported: operator Wave|function compute|worker/.test(message)}`).join();
        return words === 'UNSUPPORTED true,DEVICE true,INVALID_ARGUMENT true,INVALID_ARGUMENT true' &&
            thrown === 'INVALID_ARGUMENT must not,UNSUPPORTED must not,UNSUPPORTED null' ? '' : `${thrown} ${JSON.stringify(said)}`;
    },

    "the page's own context": async ({ backend }) => {
        if (backend !== 'webgl')
            return '';
        const { load } = await import('/web/tessera.mjs');
        const gl = new OffscreenCanvas(8, 8).getContext('webgl2'), width = 13, height = 9, image = picture(width, height);
        const program = gl.createProgram();
        for (const [kind, text] of [[gl.VERTEX_SHADER, 'void main() { gl_Position = vec4(0); }'], [gl.FRAGMENT_SHADER, 'void main() {}']]) {
            const shader = gl.createShader(kind);
            gl.shaderSource(shader, text);
            gl.compileShader(shader);
            gl.attachShader(program, shader);
        }
        gl.linkProgram(program);
        gl.useProgram(program);
        const texture = gl.createTexture(), buffer = gl.createBuffer();
        gl.activeTexture(gl.TEXTURE3);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
        gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, buffer);
        gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
        gl.enable(gl.BLEND);
        gl.enable(gl.SCISSOR_TEST);
        gl.scissor(1, 2, 3, 4);
        gl.viewport(0, 1, 2, 3);
        gl.colorMask(true, false, true, false);
        const state = () => [gl.getParameter(gl.CURRENT_PROGRAM) === program, gl.getParameter(gl.ACTIVE_TEXTURE) === gl.TEXTURE3,
            gl.getParameter(gl.TEXTURE_BINDING_2D) === texture, gl.getParameter(gl.PIXEL_UNPACK_BUFFER_BINDING) === buffer,
            gl.getParameter(gl.UNPACK_FLIP_Y_WEBGL), gl.isEnabled(gl.BLEND), gl.isEnabled(gl.SCISSOR_TEST), !gl.isEnabled(gl.DEPTH_TEST),
            gl.getParameter(gl.SCISSOR_BOX).join() === '1,2,3,4', gl.getParameter(gl.VIEWPORT).join() === '0,1,2,3',
            gl.getParameter(gl.COLOR_WRITEMASK).join() === 'true,false,true,false'].every(Boolean);
        const model = chain([1, 3, height, width], ['Neg', 'Sigmoid']), given = load(model, { backend, gl, textureOutputs: true });
        const restored = [];
        for (let i = 0; i < 5; i++) {
            await new Promise(resolve => { setTimeout(resolve, 2); });
            restored.push(state());
        }
        const network = await given, own = await load(model, { backend });
        gl.bindTexture(gl.TEXTURE_2D, null); // an error of the page's
        gl.texParameteri(gl.TEXTURE_2D, 1, 1);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        const { y } = await network.run({ x: { texture, width, height, factor: 2, summand: -1 } });
        restored.push(state());
        near('from a texture', y, (await own.run({ x: image }, { range: [-1, 1] })).y, 1e-5);
        const output = network.outputTexture('y'), framebuffer = gl.createFramebuffer(), texels = new Float32Array(4 * width * height);
        gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null);
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
        gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, output.texture, 0);
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, texels);
        near('an output texture', Float32Array.from(y, (_, i) => texels[4 * (i % (width * height)) + Math.floor(i / (width * height))]), y, 1e-6);
        const said = [await failure(own.run({ x: { texture, width, height } })), await failure(network.run({ x: { texture, width: 3, height } }))];
        network.dispose();
        own.dispose();
        const error = gl.getError();
        const statuses = said.map(({ status }) => status).join();
        return restored.every(Boolean) && !error && !gl.isContextLost() && statuses === 'INVALID_ARGUMENT,SHAPE' ? ''
            : `${restored} ${error} ${JSON.stringify(said)}`;
    },

    "the page's own device": async ({ backend }) => {
        if (backend !== 'webgpu')
            return '';
        const { load } = await import('/web/tessera.mjs');
        const gpuDevice = await (await navigator.gpu.requestAdapter()).requestDevice(), own = [];
        let lost = '';
        gpuDevice.lost.then(({ reason }) => { lost = reason; });
        gpuDevice.addEventListener('uncapturederror', event => {
            event.preventDefault();
            own.push(event.error.message);
        });
        const network = await load(chain([1, 5, 7, 9], ['Neg', 'Sigmoid', 'Neg']), { backend, gpuDevice }), x = random(315);
        const expected = (await network.run({ x })).y, setBindGroup = GPUComputePassEncoder.prototype.setBindGroup;
        gpuDevice.createBuffer({ size: 4, usage: 3 }); // an error of the page's
        near('beside it', (await network.run({ x })).y, expected, 0);
        GPUComputePassEncoder.prototype.setBindGroup = function (index, group) { return setBindGroup.call(this, index + 1, group); };
        const said = await failure(network.run({ x }));
        GPUComputePassEncoder.prototype.setBindGroup = setBindGroup;
        near('after it', (await network.run({ x })).y, expected, 0);
        network.dispose();
        await new Promise(resolve => { setTimeout(resolve, 100); });
        return said.status === 'DEVICE' && own.length === 1 && !lost ? '' : JSON.stringify([said, own, lost]);
    },

    "buffers and textures of the page's own device": async ({ backend }) => {
        if (backend !== 'webgpu')
            return '';
        const { load } = await import('/web/tessera.mjs');
        const adapter = await navigator.gpu.requestAdapter(), gpuDevice = await adapter.requestDevice();
        const { STORAGE, COPY_SRC, COPY_DST, MAP_READ, UNIFORM } = GPUBufferUsage, uncaptured = [];
        gpuDevice.addEventListener('uncapturederror', ({ error }) => uncaptured.push(error.message));
        const bufferOf = (elements, before = 0, usage = STORAGE, device = gpuDevice) => {
            const bytes = new Uint8Array(Math.ceil(elements.byteLength / 16) * 16);
            bytes.set(new Uint8Array(elements.buffer));
            const buffer = device.createBuffer({ size: before + bytes.length, usage: usage | COPY_DST | COPY_SRC });
            device.queue.writeBuffer(buffer, before, bytes);
            return buffer;
        };
        const bytesOf = async (buffer, device = gpuDevice) => {
            const copy = device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST }), encoder = device.createCommandEncoder();
            encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
            device.queue.submit([encoder.finish()]);
            await copy.mapAsync(GPUMapMode.READ);
            return copy.getMappedRange().slice();
        };
        const width = 13, height = 9, pixels = width * height, shape = [1, 3, height, width], x = random(3 * pixels);
        const network = await load(chain(shape, ['Neg', 'Sigmoid']), { backend, gpuDevice });
        const expected = (await network.run({ x })).y, zeros = new Float32Array(3 * pixels);

        // In and out, without a copy through memory: mapAsync, which reading back needs, is the page's own.
        const { mapAsync } = GPUBuffer.prototype;
        let mapped = 0;
        GPUBuffer.prototype.mapAsync = function (...values) {
            mapped++;
            return mapAsync.apply(this, values);
        };
        const given = bufferOf(x, 512), result = await network.run({ x: { buffer: given, offset: 512 } }, { read: false });
        const { buffer, dtype, layout } = await network.outputBuffer('y');
        if (Object.keys(result).length || mapped || dtype !== 'float32' || layout !== 'nchw')
            return `${JSON.stringify(result)} ${mapped} ${dtype} ${layout}`;
        near('an output buffer', new Float32Array(await bytesOf(buffer), 0, 3 * pixels), expected, 1e-6);
        near('and memory', (await network.run()).y, expected, 0);

        // Submitted before the calls return: what the page submits then comes after it.
        const run = network.run({ x: { buffer: given, offset: 512 } }, { read: false });
        const mine = bufferOf(new Uint16Array(3 * pixels + 600), 0), out = network.outputBuffer('y', { buffer: mine, offset: 1024, dtype: 'float16', layout: 'nhwc' });
        gpuDevice.queue.writeBuffer(given, 512, zeros);
        const halves = new Uint16Array(await bytesOf(mine), 1024, 3 * pixels);
        if (await out.then(to => to.buffer) !== mine || (await run, (await network.outputBuffer('y')).buffer) !== buffer)
            return 'buffers are not kept';
        near('in halves, channels last', Float32Array.from(expected, (_, i) => {
            const h = halves[i % pixels * 3 + Math.floor(i / pixels)];
            return h >> 10 ? 2 ** ((h >> 10) - 15) * (1 + (h & 1023) / 1024) : h / 2 ** 24;
        }), expected, 2 ** -11);
        const bytes = Uint8Array.from(x, value => 100 * value + 100);
        near('from bytes', (await network.run({ x: { buffer: bufferOf(bytes), dtype: 'uint8', layout: 'nhwc' } })).y,
            Float32Array.from(expected, (_, i) => 1 / (1 + Math.exp(bytes[i % pixels * 3 + Math.floor(i / pixels)]))), 1e-5);

        // A texture.
        const textureOf = (format, more) => gpuDevice.createTexture({ format, size: [width + 20, height + 3], usage: GPUTextureUsage.COPY_SRC | GPUTextureUsage.COPY_DST, ...more });
        const rgba = textureOf('rgba8unorm'), bgra = textureOf('bgra8unorm-srgb'), texels = [];
        await network.run({ x });
        mapped = 0;
        for (const texture of [rgba, bgra])
            await network.render({}, texture, { scale: 1 / 200, mean: 20 });
        const read = mapped;
        for (const texture of [rgba, bgra]) {
            const copy = gpuDevice.createBuffer({ size: 256 * texture.height, usage: COPY_DST | COPY_SRC }), encoder = gpuDevice.createCommandEncoder();
            encoder.copyTextureToBuffer({ texture }, { buffer: copy, bytesPerRow: 256 }, [texture.width, texture.height]);
            gpuDevice.queue.submit([encoder.finish()]);
            texels.push(new Uint8Array(await bytesOf(copy)));
        }
        const canvas = Object.assign(document.createElement('canvas'), { width: rgba.width, height: rgba.height });
        mapped = 0;
        await network.render({}, canvas, { scale: 1 / 200, mean: 20 });
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
        copy.drawImage(canvas, 0, 0);
        const shown = copy.getImageData(0, 0, canvas.width, canvas.height).data;
        const row = (list, y) => list.subarray(256 * y, 256 * y + 4 * rgba.width);
        for (let y = 0; y < rgba.height; y++) {
            near('a texture', row(texels[0], y), shown.subarray(4 * rgba.width * y, 4 * rgba.width * (y + 1)), 0);
            near('of other bytes', row(texels[1], y), row(texels[0], y).map((_, i, all) => all[i % 4 === 3 ? i : i - i % 4 + 2 - i % 4]), 0);
        }
        if (read || mapped)
            return `drawing has read back: ${read} ${mapped}`;
        GPUBuffer.prototype.mapAsync = mapAsync;

        // What is wrong.
        const other = await (await navigator.gpu.requestAdapter()).requestDevice(), gone = bufferOf(zeros), raw = { buffer: zeros.buffer };
        gone.destroy();
        const own = await load(chain(shape, ['Neg']), { backend }), fresh = await load(chain(shape, ['Neg']), { backend, gpuDevice });
        const opened = gpuDevice.createBuffer({ size: 4096, usage: STORAGE, mappedAtCreation: true });
        const wrong = [];
        const tell = async (promise, status, words) => {
            const said = await failure(promise);
            if (said.status !== status || !words.test(said.message))
                wrong.push(`${status} ${words}: ${said.status} ${said.message}`);
        };
        const both = async (value, status, words) => {
            await tell(network.run({ x: value }), status, words);
            await tell(network.run({ x: value }, { read: false }), status, words);
            await network.run({ x });
            await tell(network.outputBuffer('y', value), status, words);
            near('after a failure', (await network.run({ x })).y, expected, 0);
        };
        await both({ buffer: bufferOf(zeros, 0, UNIFORM) }, 'INVALID_ARGUMENT', /STORAGE/);
        await both({ buffer: bufferOf(new Float32Array(99)) }, 'INVALID_ARGUMENT', /needs 14\d\d bytes.*not 400/);
        await both({ buffer: bufferOf(zeros, 512), offset: 768 }, 'INVALID_ARGUMENT', /needs 14\d\d bytes/);
        await both({ buffer: bufferOf(zeros, 512), offset: 8 }, 'INVALID_ARGUMENT', /multiple of 256/);
        await both({ buffer: bufferOf(zeros, 512), offset: 1e9 }, 'INVALID_ARGUMENT', /no offset/);
        await both({ buffer: bufferOf(zeros), dtype: 'int64' }, 'INVALID_ARGUMENT', /not int64/);
        await both({ buffer: opened }, 'INVALID_ARGUMENT', /is mapped/);
        await both({ buffer: gone }, 'DEVICE', /estroyed/);
        await both({ buffer: bufferOf(new Float32Array(999), 0, STORAGE, other) }, 'DEVICE', /evice/);
        await both(raw, 'INVALID_ARGUMENT', /no GPUBuffer/);
        await tell(network.run({ z: { buffer: given } }), 'INVALID_ARGUMENT', /no input 'z'/);
        await tell(network.outputBuffer('z'), 'INVALID_ARGUMENT', /no output 'z'/);
        await tell(fresh.outputBuffer('y'), 'INVALID_ARGUMENT', /has not run/);
        await tell(own.run({ x: { buffer: given } }), 'INVALID_ARGUMENT', /gpuDevice/);
        await own.run({ x });
        await tell(own.outputBuffer('y'), 'INVALID_ARGUMENT', /gpuDevice/);
        await tell(own.render({}, rgba), 'INVALID_ARGUMENT', /gpuDevice/);
        await tell(network.render({}, textureOf('rgba16float')), 'INVALID_ARGUMENT', /rgba16float/);
        await tell(network.render({}, textureOf('rgba8unorm', { usage: 1 })), 'INVALID_ARGUMENT', /COPY_DST/);
        rgba.destroy();
        await tell(network.render({}, rgba), 'DEVICE', /estroyed/);
        near('after all', (await network.run({ x })).y, expected, 0);
        await network.outputBuffer('y');
        [network, own, fresh].forEach(one => one.dispose());
        await tell(network.outputBuffer('y'), 'INVALID_ARGUMENT', /disposed/);
        return wrong.concat(uncaptured).join('\n');
    },

    'storage of weights': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const model = '/parts/conv.onnx', x = random(64 * 16 * 16), bytes = {}, results = {};
        for (const weights of ['auto', 'fp32', 'fp16', 'int8']) {
            const network = await load(model, { backend, weights });
            bytes[weights] = (await network.report()).weightBytes;
            results[weights] = (await network.run({ x }))[network.outputs[0].name];
            network.dispose();
        }
        const there = await load(model, { backend, weights: 'int8', worker: true });
        bytes.worker = (await there.report()).weightBytes;
        there.dispose();
        const sum = values => values.reduce((all, y) => all + Math.abs(y), 0);
        const off = sum(results.fp32.map((y, i) => y - results.int8[i])) / sum(results.fp32);
        const times = [bytes.fp32 / bytes.int8, bytes.fp32 / bytes.fp16, bytes.auto / bytes.fp32, bytes.worker / bytes.int8];
        const wrong = [await failure(load(model, { backend, weights: 'int5' })), await failure(load(model, { backend, weights: 2 }))];
        return Math.abs(times[0] - 4) < 0.1 && Math.abs(times[1] - 2) < 0.05 && times[2] === 1 && times[3] === 1 && off > 0 && off < 0.02 &&
            wrong.every(({ status, message }) => status === 'INVALID_ARGUMENT' && message.includes('none of auto, fp32, fp16, int8')) ? ''
            : JSON.stringify([bytes, off, wrong]);
    },

    'models from servers': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const steps = [], onProgress = ({ stage, fraction }) => steps.push([stage, fraction]);
        const name = '/parts/edges2emoji.onnx.json', network = await load(name, { backend: 'cpu', onProgress });
        network.dispose();
        const fractions = steps.filter(([stage]) => stage === 'download').map(([, fraction]) => fraction);
        const rising = fractions.every((fraction, i) => i === 0 || fraction >= fractions[i - 1]) && fractions.at(-1) === 1;
        const cache = await caches.open('tessera-models'), kept = await cache.keys(), fetched = performance.getEntriesByType('resource').length;
        await cache.put(kept[0], new Response('altered'));
        (await load(name, { backend: 'cpu' })).dispose();
        const again = performance.getEntriesByType('resource').slice(fetched).map(entry => new URL(entry.name).pathname);
        const real = globalThis.fetch, said = [];
        const alter = async change => {
            await Promise.all((await cache.keys()).map(key => cache.delete(key)));
            globalThis.fetch = async (url, options) => change(String(url), await real(url, options));
            said.push(await failure(load(name, { backend })));
            globalThis.fetch = real;
        };
        await alter(async (url, response) => (url.endsWith('.1') ? new Response((await response.arrayBuffer()).slice(1)) : response));
        await alter(async (url, response) => (url.endsWith('.2') ? new Response(new Uint8Array(4 << 20)) : response));
        await alter(async (url, response) => (url.endsWith('.0') ? new Response('', { status: 500, statusText: 'broken' }) : response));
        await alter(async (url, response) => (url.endsWith('.json') ? new Response('{"format": "tessera chunks 1"}') : response));
        await alter(async () => { throw new TypeError('Failed to fetch'); });
        for (const url of ['/none.onnx', '/web/gl.mjs', '/support/empty.html'])
            said.push(await failure(load(url, { backend })));
        const control = new AbortController();
        said.push(await failure(load('/demo/edges2emoji.onnx', { backend, signal: control.signal, onProgress: () => control.abort() })));
        const statuses = said.map(({ status }) => status).join();
        return rising && kept.length === 4 && again.length === 2 &&
            statuses === 'INVALID_MODEL,INVALID_MODEL,IO,INVALID_MODEL,IO,IO,INVALID_MODEL,INVALID_MODEL,CANCELLED' ? ''
            : `${rising} ${kept.length} ${again} ${JSON.stringify(said)}`;
    },

    'the device opens while the model downloads': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const real = globalThis.fetch, prototype = backend === 'webgpu' ? GPUAdapter.prototype : OffscreenCanvas.prototype;
        const method = backend === 'webgpu' ? 'requestDevice' : 'getContext', open = prototype[method], model = chain([3], ['Neg']);
        let opened = 0, early;
        prototype[method] = function (...values) {
            opened++;
            return open.apply(this, values);
        };
        const body = () => new ReadableStream({ async pull(controller) {
            for (let i = 0; i < 1000 && !opened; i++)
                await new Promise(resolve => { setTimeout(resolve, 10); });
            early = opened;
            controller.enqueue(model);
            controller.close();
        } });
        globalThis.fetch = async (url, options) => (String(url).endsWith('slow.onnx') ? new Response(body()) : real(url, options));
        const network = await load('/slow.onnx', { backend }), { y } = await network.run({ x: Float32Array.of(1, 2, 3) });
        network.dispose();
        globalThis.fetch = real;
        prototype[method] = open;
        near('its output', y, Float32Array.of(-1, -2, -3), 0);
        return early === 1 && opened === 1 ? '' : `opened ${early} times before the model was there, ${opened} in all`;
    },

    'a worker': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const shape = [1, 3, 16, 16], model = chain(shape, ['Neg', 'Sigmoid']), x = random(768), steps = [];
        const here = await load(model, { backend });
        const there = await load(model, { backend, worker: true, name: 'net', onProgress: step => steps.push(step) });
        near('outputs', (await there.run({ x })).y, (await here.run({ x })).y, 1e-6);
        const [a, b] = [0, 0].map(() => new OffscreenCanvas(16, 16)), image = picture(16, 16);
        await there.render({ x: image }, a);
        await here.render({ x: image }, b);
        const [drawn, expected] = await Promise.all([a, b].map(async canvas => {
            const copy = new OffscreenCanvas(16, 16).getContext('2d');
            copy.drawImage(canvas, 0, 0);
            return copy.getImageData(0, 0, 16, 16).data;
        }));
        near('rendered', drawn, expected, 1);
        const wide = new OffscreenCanvas(900, 900).getContext('2d').canvas, input = x.slice();
        const order = [], first = there.run({ x: wide }).then(() => order.push(1)), second = there.run({ x: input }).then(() => order.push(2));
        input.fill(9);
        await Promise.all([first, second]);
        near('the inputs of the last call', (await there.run()).y, (await here.run({ x })).y, 1e-6);
        if (order.join() !== '1,2')
            return `runs end in the order ${order}`;
        const report = await there.report(), wrong = await failure(there.run({ z: x }));
        const pending = failure(there.run({ x }));
        there.dispose();
        here.dispose();
        const ended = [await pending, await failure(there.run({ x })), await failure(load(new Uint8Array(3), { backend, worker: true }))];
        const control = new AbortController(), aborted = failure(load(model, { backend, worker: true, signal: control.signal }));
        control.abort();
        ended.push(wrong, await aborted);
        const statuses = ended.map(({ status }) => status).join();
        return report.nodes.length && steps.length && here.outputs[0].shape.join() === there.outputs[0].shape.join() &&
            statuses === 'CANCELLED,INVALID_ARGUMENT,INVALID_MODEL,INVALID_ARGUMENT,CANCELLED' ? '' : JSON.stringify(ended);
    },

    'several networks, and their ends': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const shape = [1, 8, 40, 40], count = 12800, model = chain(shape, Array(10).fill('Neg'));
        const networks = await Promise.all(Array.from({ length: 20 }, () => load(model, { backend })));
        const inputs = networks.map(() => random(count));
        const runs = networks.flatMap((network, i) => [network.run({ x: inputs[i] }), network.run({ x: inputs[19 - i] })]);
        (await Promise.all(runs)).forEach(({ y }, i) =>
            near('one of many', y, inputs[i % 2 ? 19 - (i >> 1) : i >> 1], 0));
        const running = networks[0].run({ x: inputs[0] }), waiting = networks[0].run({ x: inputs[0] });
        networks[0].dispose();
        const ended = [await failure(running), await failure(waiting), await failure(networks[0].run({})), await failure(networks[0].report())];
        near('another', (await networks[1].run({ x: inputs[1] })).y, inputs[1], 0);
        networks.forEach(network => network[Symbol.dispose]?.() ?? network.dispose());
        const statuses = ended.map(({ status }) => status).join();
        return statuses === 'CANCELLED,CANCELLED,INVALID_ARGUMENT,INVALID_ARGUMENT' ? '' : JSON.stringify(ended);
    },

    // Lost after each number of tasks of loading and running: an error with its status, then a new network that works.
    'devices that are lost': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const shape = [1, 4, 30, 30], x = random(3600), model = chain(shape, Array(12).fill('Neg')), outcomes = {};
        const contexts = [], getContext = OffscreenCanvas.prototype.getContext;
        OffscreenCanvas.prototype.getContext = function (kind, ...values) {
            const context = getContext.call(this, kind, ...values);
            if (kind === 'webgl2')
                contexts.push(context);
            return context;
        };
        const requestDevice = globalThis.GPUAdapter?.prototype.requestDevice;
        if (requestDevice)
            GPUAdapter.prototype.requestDevice = async function (...values) {
                contexts.push(await requestDevice.apply(this, values));
                return contexts.at(-1);
            };
        const lose = () => contexts.splice(0).forEach(context =>
            (context.destroy ? context.destroy() : context.getExtension('WEBGL_lose_context')?.loseContext()));
        const live = async () => {
            const network = await load(model, { backend });
            try {
                for (let i = 0; i < 3; i++)
                    near('a run', (await network.run({ x })).y, x, 0);
            } finally {
                network.dispose();
            }
        };
        for (let n = 0; n < 25; n++) {
            const lived = failure(live());
            for (let i = 0; i < n; i++)
                await new Promise(resolve => { setTimeout(resolve, Math.random() * 2); });
            lose();
            const { status, message } = await lived;
            outcomes[status] = (outcomes[status] ?? 0) + 1;
            if (!['none', 'DEVICE_LOST'].includes(status))
                return `${status}: ${message}`;
        }
        await live();
        OffscreenCanvas.prototype.getContext = getContext;
        if (requestDevice)
            GPUAdapter.prototype.requestDevice = requestDevice;
        return outcomes.DEVICE_LOST > 2 ? '' : JSON.stringify(outcomes);
    },

    'loading, running and disposing 200 times': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const model = chain([1, 3, 64, 64], ['Neg', 'Sigmoid', 'Neg']), x = random(12288);
        const live = async () => {
            const network = await load(model, { backend });
            await network.run({ x });
            network.dispose();
        };
        const heap = async () => {
            if (!globalThis.gc || !performance.memory)
                return NaN;
            for (let i = 0; i < 3; i++) {
                gc();
                await new Promise(resolve => { setTimeout(resolve, 50); });
            }
            return performance.memory.usedJSHeapSize;
        };
        for (let i = 0; i < 20; i++)
            await live();
        const before = await heap();
        for (let i = 0; i < 200; i++)
            await live();
        const grown = await heap() - before;
        if (Number.isNaN(grown))
            return "lacking: the heap's growth (gc() and performance.memory are Chromium's)";
        return grown < 400000 ? '' : `the heap has grown by ${grown} bytes`;
    },

    // By a clock that moves on with each look at it, all takes long: the page has its turn after every small part of the work.
    'preparing in slices': async ({ backend }) => {
        const { load } = await import('/web/tessera.mjs');
        const { port1, port2 } = new MessageChannel(), steps = [], reads = [];
        let time = performance.now(), turns = 0;
        port1.onmessage = () => port2.postMessage(turns++);
        port2.postMessage(0);
        performance.now = () => (time += 5);
        const network = await load('/demo/edges2emoji.onnx', {
            backend, onProgress: ({ stage, fraction }) => ({ prepare: steps, read: reads })[stage]?.push({ fraction, turns }),
        });
        delete performance.now;
        port1.close();
        network.dispose();
        const largest = Math.max(...steps.slice(1).map(({ fraction }, i) => fraction - steps[i].fraction));
        const taken = steps.at(-1).turns - steps[0].turns;
        const copied = reads.at(-1).turns - reads[0].turns; // 15 MB
        return largest < 0.05 && taken > steps.length / 2 && copied > 10 ? ''
            : `${steps.length} steps, the largest of ${largest}; ${taken} turns, ${copied} while it was read`;
    },
};

const parts = mkdtempSync(join(tmpdir(), 'tessera-'));
process.on('exit', () => rmSync(parts, { recursive: true }));
execFileSync(tool, ['convert', `${root}/demos/models/edges2emoji.onnx`, '-o', parts, '--chunk', '4M']);
execFileSync(join(dirname(tool), 'make_models'), ['conv', '--in', '64', '--out', '128', '--size', '16', '-o', join(parts, 'conv.onnx')]);
const folders = { '/web/': `${root}/build-web`, '/demo/': `${root}/demos/models`, '/parts/': parts };
await withPage(driver, folders, async page => {
    const complaints = [];
    page.on('console', message => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
            complaints.push(message.text());
        if (message.type() === 'log')
            console.log(message.text());
    });
    page.on('pageerror', error => complaints.push(error.message));
    await page.evaluate(setUp);
    let failed = 0;
    for (const [name, test] of Object.entries(tests)) {
        const start = performance.now(), why = await page.evaluate(test, { backend }).catch(error => error.message);
        const good = why === '' || why.startsWith('lacking: ');
        failed += !good;
        console.log(`${good ? 'ok' : 'FAIL'}: ${name} (${(performance.now() - start).toFixed(0)} ms)${why && `\n${why}`}`);
    }
    assert.equal(failed, 0, `${failed} tests failed`);
    assert.deepEqual(complaints, []);
});
