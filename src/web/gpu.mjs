// WebGPU for src/webgpu/web: what the module imports from "gpu". Objects and futures are numbers there, 0 is none.

// Those that the library reads, asked for as large as the adapter has them.
const LIMITS = [
    'maxBufferSize', 'maxStorageBufferBindingSize', 'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupStorageSize',
    'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupsPerDimension',
];
// As webgpu.h numbers them.
const FILTERS = [, 'validation', 'out-of-memory', 'internal'];
const BINDINGS = [, , 'uniform', 'storage', 'read-only-storage'];
const ERRORS = { GPUValidationError: 2, GPUOutOfMemoryError: 3, GPUInternalError: 4 };
const NO_ERROR = 1, COMPLETE = 1, FAILED = 2, NOTHING = 0, LOST = 1;
const READ = 1, COMPUTE = 4; // a map mode, a shader stage

// What kernels for matrix units need, of an adapter or a device, and a program that uses all of it: it is experimental.
const MATRICES = ['shader-f16', 'chromium-experimental-subgroup-matrix'];
const code = `enable f16, chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);
var<workgroup> a: array<f16, 256>;
var<workgroup> sums: array<f32, 256>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum: subgroup_matrix_result<f32, 16, 16>;
    sum = subgroupMatrixMultiplyAccumulate(subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&a, i, 16u),
        subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&a, i, 16u), sum);
    subgroupMatrixStore<row_major>(&sums, i, sum, 16u);
}`;
const hasMatrices = ({ features }, { subgroupMinSize: min, subgroupMaxSize: max, subgroupMatrixConfigs: configs }) =>
    MATRICES.every(name => features.has(name)) && min === 32 && max === 32 && [...configs ?? []].some(c =>
        `${c.componentType} ${c.resultComponentType} ${c.M} ${c.N} ${c.K}` === 'f16 f32 16 16 16');

// lost: why it was, once it is. matrices: can its kernels be compiled?
async function watch(gpu) {
    const { device, info } = gpu;
    device.lost.then(({ message, reason }) => { gpu.lost = message || reason; });
    if (hasMatrices(device, info)) {
        device.pushErrorScope('validation');
        device.createShaderModule({ code });
        gpu.matrices = !await device.popErrorScope();
    }
    return gpu;
}

/** The page's own GPUDevice, or one of an adapter's (which is no software: hardware), for makeGpu(). It fails where there is none. */
export async function openGpu({ gpuDevice, hardware, powerPreference = 'high-performance' } = {}) {
    if (gpuDevice)
        return watch({ device: gpuDevice, info: gpuDevice.adapterInfo ?? {}, own: false });
    const { gpu } = globalThis.navigator ?? {};
    if (!gpu)
        throw new Error(globalThis.isSecureContext === false ? 'WebGPU needs a page from https or from localhost'
            : 'there is no WebGPU here');
    const adapter = await gpu.requestAdapter({ powerPreference });
    if (!adapter)
        throw new Error('WebGPU finds no GPU that it can use');
    if (hardware && (adapter.info?.isFallbackAdapter || /swiftshader|llvmpipe/i.test(adapter.info?.description + adapter.info?.architecture)))
        throw new Error('WebGPU has a software adapter alone');
    const requiredLimits = Object.fromEntries(LIMITS.map(name => [name, adapter.limits[name]]));
    const info = adapter.info ?? {};
    const device = await adapter.requestDevice({ requiredLimits, requiredFeatures: hasMatrices(adapter, info) ? MATRICES : [] });
    return watch({ device, info, own: true });
}

// memory(): the module's bytes; text(at), write(string, at, size): strings in them. gpu: of openGpu; undefined: there is none.
// The device is destroyed with the library's, unless it is the page's own.
export function makeGpu({ memory, text, write }, gpu) {
    const device = gpu?.device, objects = new Map(), futures = new Map(), events = [];
    let last = 0, popping; // the latest number, and the latest error scope that was popped

    const add = object => {
        objects.set(++last, object);
        return last;
    };
    const get = number => objects.get(number);
    const u32 = (at, count) => new Uint32Array(memory().buffer, at >>> 0, count);
    const f64 = (at, count) => new Float64Array(memory().buffer, at >>> 0, count);
    // A promise of { status, object, message }; settle(): the same for one who cannot wait.
    const begin = (promise, settle) => {
        const future = { settle };
        futures.set(++last, future);
        promise.then(result => { future.result = result; });
        return last;
    };
    // A loss, which is the reason of many failures, is known soon after them.
    const fail = async error => {
        await Promise.race([device.lost, new Promise(resolve => { setTimeout(resolve, 50); })]);
        return { status: FAILED, message: error.message };
    };
    const describe = error =>
        error ? { status: ERRORS[error.constructor.name] ?? FAILED, message: error.message } : { status: NO_ERROR };

    const onError = ({ error }) => events.push(describe(error));
    if (gpu?.own) // else the page's own errors come so, too
        device.addEventListener('uncapturederror', onError);

    const imports = {
        // ---- the device
        isOpen: () => Number(Boolean(device)),
        isShared: () => Number(!gpu.own),
        getInfo(name, nameSize, details, detailsSize) {
            const { vendor, architecture, description = '', isFallbackAdapter } = gpu.info;
            write(description || [vendor, architecture].filter(Boolean).join(' ') || 'GPU', name, nameSize);
            write([vendor, architecture].filter(Boolean).join(' '), details, detailsSize);
            return Number(Boolean(isFallbackAdapter) || /swiftshader|llvmpipe/i.test(`${architecture} ${description}`));
        },
        getLimit: name => device.limits[text(name)],
        hasPackedDot: () => Number(Boolean(globalThis.navigator?.gpu?.wgslLanguageFeatures?.has('packed_4x8_integer_dot_product'))),
        hasSubgroupMatrix: () => Number(Boolean(gpu.matrices)),
        destroyDevice() {
            device.removeEventListener('uncapturederror', onError);
            if (gpu.own)
                device.destroy();
        },
        takeEvent(at, size) {
            const event = gpu.lost === undefined ? events.shift() : { status: LOST, message: gpu.lost };
            if (event)
                write(event.message, at, size);
            return event?.status ?? NOTHING;
        },
        pushErrorScope: filter => device.pushErrorScope(FILTERS[filter]),
        popErrorScope() {
            const popped = popping = device.popErrorScope().then(describe, () => ({ status: NO_ERROR }));
            return begin(popped, () => {
                popped.then(result => result.status !== NO_ERROR && events.push(result));
                return { status: NO_ERROR };
            });
        },

        // ---- futures
        takeResult(number, wait, object, at, size) {
            const future = futures.get(number), result = future.result ?? (wait ? future.settle?.() : undefined);
            if (!result)
                return 0;
            futures.delete(number);
            if (result.object)
                u32(object, 1)[0] = add(result.object);
            if (result.message)
                write(result.message, at, size);
            return result.status;
        },
        drop: number => { futures.delete(number); },

        // ---- buffers
        createBuffer: (size, usage) => add(device.createBuffer({ size, usage })),
        destroyBuffer: buffer => get(buffer).destroy(),
        writeBuffer: (buffer, offset, at, size) =>
            device.queue.writeBuffer(get(buffer), offset, memory().buffer, at >>> 0, size >>> 0),
        mapBuffer: buffer => begin(get(buffer).mapAsync(READ).then(() => ({ status: COMPLETE }), fail)),
        readBuffer(buffer, at) {
            try {
                memory().set(new Uint8Array(get(buffer).getMappedRange()), at >>> 0);
                return 1;
            } catch {
                return 0; // no longer mapped: its device was lost
            }
        },
        unmapBuffer: buffer => get(buffer).unmap(),

        // ---- programs
        createShaderModule: (at, length) => add(device.createShaderModule({ code: text(at, length) })),
        createBindGroupLayout(at, count) {
            const values = u32(at, 2 * count);
            return add(device.createBindGroupLayout({ entries: Array.from({ length: count }, (_, i) =>
                ({ binding: values[2 * i], visibility: COMPUTE, buffer: { type: BINDINGS[values[2 * i + 1]] } })) }));
        },
        createPipelineLayout: layout => add(device.createPipelineLayout({ bindGroupLayouts: [get(layout)] })),
        createPipeline(layout, module) {
            const of = { layout: get(layout), compute: { module: get(module), entryPoint: 'main' } };
            return begin(device.createComputePipelineAsync(of).then(object => ({ status: COMPLETE, object }), fail),
                () => ({ status: COMPLETE, object: device.createComputePipeline(of) }));
        },
        createBindGroup(layout, at, count) {
            const values = f64(at, 4 * count);
            return add(device.createBindGroup({ layout: get(layout), entries: Array.from({ length: count }, (_, i) => {
                const [binding, buffer, offset, size] = values.subarray(4 * i);
                return { binding, resource: { buffer: get(buffer), offset, size: size < 0 ? undefined : size } };
            }) }));
        },

        // ---- commands
        createEncoder: () => add(device.createCommandEncoder()),
        copyBuffer: (encoder, from, fromOffset, to, toOffset, size) =>
            get(encoder).copyBufferToBuffer(get(from), fromOffset, get(to), toOffset, size),
        copyToTexture: (encoder, buffer, bytesPerRow, texture, x, y, width, height) =>
            get(encoder).copyBufferToTexture({ buffer: get(buffer), bytesPerRow },
                { texture: get(texture), origin: [x, y] }, [width, height]),
        submit: encoder => device.queue.submit([get(encoder).finish()]),
        beginPass: encoder => add(get(encoder).beginComputePass()),
        setPipeline: (pass, pipeline) => get(pass).setPipeline(get(pipeline)),
        setBindGroup: (pass, group) => get(pass).setBindGroup(0, get(group)),
        dispatch: (pass, x, y, z) => get(pass).dispatchWorkgroups(x, y, z),
        endPass: pass => get(pass).end(),
        release: number => { objects.delete(number); },
    };
    return {
        imports,
        // Calls fn with the number of an object of the page's.
        lend(object, fn) {
            const number = add(object);
            try {
                return fn(number);
            } finally {
                objects.delete(number);
            }
        },
        // Errors of all calls so far are known then.
        settled: () => popping,
    };
}
