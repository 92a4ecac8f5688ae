// Networks of random weights, and what the native backend cpu computes with them, in the form of TSR_MODELS: for page tests where
// there is no such folder. Usage: node make_networks.mjs BUILD FOLDER; BUILD has make_models and tessera.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeNpy } from './npy.mjs';

const [build, folder] = process.argv.slice(2).map(path => resolve(path));
const networks = {
    autoencoder: { options: ['autoencoder'], shape: [1, 3, 256, 256] },
    conv: { options: ['conv', '--in', '24', '--out', '40', '--size', '48'], shape: [1, 24, 48, 48] },
    conv_transpose: { options: ['conv_transpose', '--in', '24', '--out', '40', '--size', '48'], shape: [1, 24, 48, 48] },
    mobile: { options: ['mobile'], shape: [1, 3, 256, 256] },
    mobile_small: { options: ['mobile', '--size', '64', '--seed', '8'], shape: [1, 3, 64, 64] },
    pix2pix: { options: ['pix2pix', '--ngf', '8'], shape: [1, 3, 256, 256] },
    pix2pix_batch: { options: ['pix2pix', '--ngf', '8', '--norm', 'batch'], shape: [1, 3, 256, 256] },
    pix2pix_instance: { options: ['pix2pix', '--ngf', '8', '--norm', 'instance'], shape: [1, 3, 256, 256] },
};

// Floats of -1 to 1: a generator modulo 2^32 whose upper bits are taken.
function random(count) {
    let state = 1;
    return Float32Array.from({ length: count }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 31 - 1;
    });
}

for (const [name, { options, shape }] of Object.entries(networks)) {
    const file = what => `${folder}/${name}/${what}`;
    mkdirSync(file(''), { recursive: true });
    execFileSync(`${build}/make_models`, [...options, '-o', file('model.onnx')]);
    writeFileSync(file('input_0.npy'), writeNpy(shape, random(shape.reduce((a, b) => a * b))));
    execFileSync(`${build}/tessera`,
        ['run', file('model.onnx'), '--backend', 'cpu', '-i', file('input_0.npy'), '-o', file('output_0.npy')]);
}
const index = Object.keys(networks).map(name => [name, { reference_noise: [{ maxdiff: 0 }] }]);
writeFileSync(`${folder}/index.json`, JSON.stringify(Object.fromEntries(index), null, 1));
