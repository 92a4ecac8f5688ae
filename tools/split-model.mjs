#!/usr/bin/env node
// Splits a model into chunks, which pages fetch at once, check by hashes and keep: load('FOLDER/NAME.json').
// Usage: split-model.mjs MODEL FOLDER [MIB]     chunks of MIB (4) MiB and their index in FOLDER
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const [model, folder, mib = '4'] = process.argv.slice(2), step = Number(mib) * 2 ** 20;
if (!folder || !(step >= 1)) {
    console.error('usage: split-model.mjs MODEL FOLDER [MIB]');
    process.exit(2);
}
try {
    const bytes = readFileSync(model), name = basename(model), chunks = [];
    if (!bytes.length)
        throw new Error(`${model} is empty`);
    mkdirSync(folder, { recursive: true });
    for (let at = 0; at < bytes.length; at += step) {
        const part = bytes.subarray(at, at + step), sha256 = createHash('sha256').update(part).digest('hex');
        const file = `${name}.${chunks.length}`;
        writeFileSync(join(folder, file), part);
        chunks.push({ file, bytes: part.length, sha256 });
    }
    const index = join(folder, `${name}.json`);
    writeFileSync(index, `${JSON.stringify({ format: 'tessera chunks 1', bytes: bytes.length, chunks }, null, 1)}\n`);
    console.log(`${index}: ${chunks.length} chunks`);
} catch (error) {
    console.error(`split-model.mjs: ${error.message}`);
    process.exit(2);
}
