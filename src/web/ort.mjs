// The names of ONNX Runtime Web, for code that was written for it.
import { TesseraError } from './module.mjs';
import { load } from './tessera.mjs';

const PROVIDERS = { webgl: 'webgl', webgpu: 'webgpu', wasm: 'cpu', cpu: 'cpu' };

export class Tensor {
    constructor(type, data, dims = [data.length]) {
        const count = dims.reduce((product, size) => product * size, 1);
        if (count !== data.length)
            throw new TesseraError('SHAPE', `a tensor [${dims.join(', ')}] has ${count} elements, not ${data.length}`);
        this.type = type;
        this.data = data instanceof Float32Array ? data : Float32Array.from(data, Number);
        this.dims = Object.freeze([...dims]);
    }
}

// The first provider that is known here.
function backendOf(providers = []) {
    const names = providers.map(provider => provider.name ?? provider), known = names.find(name => PROVIDERS[name]);
    if (names.length && !known)
        throw new TesseraError('INVALID_ARGUMENT', `none of the execution providers ${names.join(', ')} is known here`);
    return known ? PROVIDERS[known] : 'auto';
}

export class InferenceSession {
    #network;

    constructor(network) {
        this.#network = network;
        this.inputNames = Object.freeze(network.inputs.map(input => input.name));
        this.outputNames = Object.freeze(network.outputs.map(output => output.name));
    }

    static async create(model, { executionProviders, ...options } = {}) {
        return new InferenceSession(await load(model, { backend: backendOf(executionProviders), ...options }));
    }

    async run(feeds) {
        for (const { name, shape } of this.#network.inputs)
            if (feeds[name] && feeds[name].dims.join() !== shape.join())
                throw new TesseraError('SHAPE', `input '${name}' is [${feeds[name].dims.join(', ')}], not [${shape.join(', ')}]`);
        const results = await this.#network.run(Object.fromEntries(Object.entries(feeds).map(([name, { data }]) => [name, data])));
        return Object.fromEntries(this.#network.outputs.map(({ name, dtype, shape }) => [name, new Tensor(dtype, results[name], shape)]));
    }

    async release() {
        this.#network.dispose();
    }
}
