// In a frame of the bench page: one library with one network. Gives the frame's window an `engine`.

const folder = new URL('peers/', location.href).href;

function addScript(name) {
    return new Promise((done, fail) => {
        const script = document.createElement('script');
        script.src = folder + name;
        script.onload = done;
        script.onerror = () => fail(new Error(`${name} cannot be loaded`));
        document.head.append(script);
    });
}

// Each makes a function that runs { name: { data, shape } } and gives arrays, and says what it runs on.
const libraries = {
    async tessera({ backend, bytes, name, shapes }) {
        const { load } = await import('./tessera/tessera.mjs'), network = await load(bytes, { backend, name, shapes });
        const { device } = await network.report();
        return {
            device,
            async run(feeds) {
                const arrays = Object.entries(feeds).map(([key, { data }]) => [key, data]);
                const results = await network.run(Object.fromEntries(arrays));
                return network.outputs.map(output => results[output.name]);
            },
        };
    },
    async ort({ backend, bytes }) {
        await addScript(`ort.${backend}.min.js`);
        const { ort } = globalThis;
        ort.env.wasm.wasmPaths = folder;
        ort.env.wasm.numThreads = crossOriginIsolated ? navigator.hardwareConcurrency : 1;
        const session = await ort.InferenceSession.create(new Uint8Array(bytes), { executionProviders: [backend] });
        return {
            device: backend === 'wasm' ? `${ort.env.wasm.numThreads} thread${ort.env.wasm.numThreads > 1 ? 's' : ''}` : '',
            async run(feeds) {
                const results = await session.run(Object.fromEntries(Object.entries(feeds).map(([key, { data, shape }]) =>
                    [key, new ort.Tensor('float32', data, shape)])));
                return Promise.all(session.outputNames.map(output => results[output].getData()));
            },
        };
    },
    async tfjs({ backend, bytes }) {
        await addScript('tf-core.es2017.min.js');
        await addScript(`tf-backend-${backend}.es2017.min.js`);
        const { tf } = globalThis;
        if (backend === 'wasm')
            tf.wasm.setWasmPaths(folder);
        if (!await tf.setBackend(backend))
            throw new Error(`TF.js has no backend ${backend} here`);
        await tf.ready();
        const { translate } = await import('./tfjs.mjs'), network = translate(bytes);
        return {
            device: `TF.js ${tf.version_core}`,
            async run(feeds) {
                const results = tf.tidy(() => network(Object.fromEntries(Object.entries(feeds).map(([key, { data, shape }]) =>
                    [key, tf.tensor(data, shape)]))));
                const arrays = await Promise.all(results.map(result => result.data()));
                tf.dispose(results);
                return arrays;
            },
        };
    },
};

let made;

window.engine = {
    /** { ms, device } */
    async load(options) {
        const begin = performance.now();
        made = await libraries[options.library](options);
        return { ms: performance.now() - begin, device: made.device };
    },
    /** { ms, outputs } */
    async run(feeds) {
        const own = Object.fromEntries(Object.entries(feeds).map(([name, { data, shape }]) =>
            [name, { data: new Float32Array(data), shape: [...shape] }])); // of this frame: libraries look for its classes
        const begin = performance.now(), outputs = await made.run(own);
        return { ms: performance.now() - begin, outputs };
    },
};
