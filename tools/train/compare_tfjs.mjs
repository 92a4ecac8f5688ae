// Training steps of TF.js (WebGL, Chromium) and of Tessera (gles) on Mesa's llvmpipe, in turns: medians.
// Usage: PEERS=FOLDER node compare_tfjs.mjs STEPS. In FOLDER npm installed @tensorflow/tfjs; STEPS is steps.c, compiled.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { withPage } from '../../tests/support/browsers.mjs';

const program = process.argv[2], peers = process.env.PEERS, rounds = 7, count = 20;
if (!program || !peers)
    throw new Error('usage: PEERS=FOLDER node compare_tfjs.mjs STEPS');
const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];

// In the page: the layers, numbers and update of steps.c.
/* global tf */
async function load(kind) {
    await tf.setBackend('webgl');
    await tf.ready();
    const image = kind === 'image', { conv1d, conv2d, maxPooling1d, maxPooling2d, flatten, dense } = tf.layers;
    const shape = image ? [28, 28, 1] : [64, 1], classes = image ? 10 : 5, batch = 32, activation = 'relu';
    const [conv, pool] = image ? [conv2d, maxPooling2d] : [conv1d, maxPooling1d];
    const layers = [
        conv({ filters: 8, kernelSize: image ? 3 : 5, activation, inputShape: shape }), pool({ poolSize: 2 }),
        conv({ filters: 16, kernelSize: 3, activation }), pool({ poolSize: 2 }), flatten(),
        ...image ? [] : [dense({ units: 32, activation })], dense({ units: classes }),
    ];
    const inputs = Float32Array.from({ length: batch * shape.reduce((a, b) => a * b) }, (_, i) => (i * 7919 % 1000) / 500 - 1);
    const targets = new Float32Array(batch * classes).map((_, i) => Number(i % classes === Math.floor(i / classes) % classes));
    const network = tf.sequential({ layers }), adam = tf.train.adam(0.001);
    const step = () => tf.tidy(() => {
        const x = tf.tensor(inputs, [batch, ...shape]), y = tf.tensor(targets, [batch, classes]);
        return adam.minimize(() => tf.losses.softmaxCrossEntropy(y, network.apply(x, { training: true })), true);
    });
    globalThis.train = async (steps, reads) => {
        const begin = performance.now();
        let loss;
        for (let i = 0; i < steps; i++) {
            const value = step();
            if (reads || i === steps - 1)
                [loss] = await value.data();
            value.dispose();
        }
        return { ms: (performance.now() - begin) / steps, loss };
    };
    const gl = document.createElement('canvas').getContext('webgl2'), names = gl.getExtension('WEBGL_debug_renderer_info');
    return `TF.js ${tf.version.tfjs} (${gl.getParameter(names.UNMASKED_RENDERER_WEBGL)})`;
}

async function compare(page, kind, lines, child) {
    const next = async () => JSON.parse((await lines.next()).value);
    const names = [await page.evaluate(load, kind), `Tessera, ${(await next()).device}`];
    const sides = [
        (steps, reads) => page.evaluate((...all) => globalThis.train(...all), steps, reads),
        (steps, reads) => (child.stdin.write(`${steps} ${reads}\n`), next()),
    ];
    console.log(`${kind}, batch 32: ${names.join('; ')}`);
    for (const reads of [1, 0]) {
        const times = [[], []], last = [];
        for (let round = -1; round < rounds; round++) // the first warms up
            for (const [i, train] of sides.entries()) {
                const { ms, loss } = await train(count, reads);
                last[i] = loss;
                if (round >= 0)
                    times[i].push(ms);
            }
        const ratio = median(times[0].map((ms, i) => ms / times[1][i])), steps = times.map(list => median(list).toFixed(2));
        console.log(`  loss read ${reads ? 'in each step' : `after ${count} steps`}: ${steps.join(' and ')} ms a step, ` +
            `${ratio.toFixed(2)} times as fast; losses ${last.map(loss => loss.toFixed(4)).join(', ')}`);
    }
}

for (const kind of ['signal', 'image'])
    await withPage('llvmpipe', { '/peers/': `${peers}/node_modules` }, async (page, url) => {
        await page.addScriptTag({ url: `${url}peers/@tensorflow/tfjs/dist/tf.min.js` });
        const env = { ...process.env, LIBGL_ALWAYS_SOFTWARE: '1' };
        const child = spawn(program, [kind], { stdio: ['pipe', 'pipe', 'inherit'], env });
        try {
            await compare(page, kind, createInterface({ input: child.stdout })[Symbol.asyncIterator](), child);
        } finally {
            child.stdin.end();
        }
    });
