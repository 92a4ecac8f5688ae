// Devices, which networks of a page share: browsers allow few WebGL contexts. Each has a module of its own, so that what its
// networks needed is gone with the last of them.
import { callOperator } from './custom.mjs';
import { openGpu } from './gpu.mjs';
import { SMALL, compile, fail, instantiate } from './module.mjs';

const BACKENDS = { cpu: 'cpu', webgl: 'gles', webgpu: 'webgpu' }; // as the library calls them

const devices = []; // that can be shared

// What it throws must not pass through the module.
function tell(log, level, message) {
    try {
        log(level, message);
    } catch (error) {
        queueMicrotask(() => { throw error; });
    }
}

async function open(device) {
    const { backend, gl, gpuDevice, hardware, source, logs } = device;
    device.gpu = backend === 'webgpu' ? await openGpu({ gpuDevice, hardware }).catch(error => fail('NO_DEVICE', error.message, error)) : undefined;
    const module = await compile(source);
    const wasm = await instantiate(module, {
        log: (level, message) => logs.forEach(log => tell(log, level, message)),
        callOperator,
        gpu: device.gpu,
    });
    wasm.gl.adopt(gl);
    wasm.call('tsr_web_log', 1);
    const handle = wasm.made(wasm.spell(BACKENDS[backend], at => wasm.call('tsr_web_device', at)));
    return Object.assign(device, { wasm, handle, name: wasm.text(wasm.call('tsr_web_device_name', handle)) });
}

/** A device of a backend, by default of the small module; release() has to follow. */
export async function acquire(backend, { gl, gpuDevice, hardware = false, wasm = SMALL[backend], log }) {
    const source = wasm instanceof URL ? wasm.href : wasm;
    if (!BACKENDS[backend])
        fail('INVALID_ARGUMENT', `there is no backend '${backend}', only auto, ${Object.keys(BACKENDS).join(', ')}`);
    devices.filter(d => d.wasm?.isBroken() || d.wasm?.gl.isLost() || d.gpu?.lost !== undefined).forEach(retire);
    let device = devices.find(d => d.backend === backend && d.gl === gl && d.gpuDevice === gpuDevice && d.source === source &&
        (backend !== 'webgpu' || d.hardware === hardware));
    if (!device) {
        device = { backend, gl, gpuDevice, hardware, source, logs: new Set(), users: 0 };
        device.opened = open(device);
        devices.push(device);
    }
    device.users++;
    if (log)
        device.logs.add(log);
    try {
        return await device.opened;
    } catch (error) {
        release(device, log);
        retire(device);
        throw error;
    }
}

/** No new network gets it: it was lost, or its module stopped. */
export function retire(device) {
    if (devices.includes(device))
        devices.splice(devices.indexOf(device), 1);
}

/** Once for each acquire(). */
export function release(device, log) {
    device.logs.delete(log);
    if (--device.users > 0)
        return;
    retire(device);
    if (device.handle && !device.wasm.isBroken())
        device.wasm.call('tsr_web_device_free', device.handle);
}
