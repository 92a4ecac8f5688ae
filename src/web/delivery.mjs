// Models from servers: a file, or an index of chunks that `tessera convert --chunk` made.
import { fail, request } from './module.mjs';

const MIB = 2 ** 20, AT_ONCE = 6, CACHE = 'tessera-models';

// A body's end may be missing.
const whole = (body, url) => body.catch(error =>
    (error.name === 'AbortError' ? Promise.reject(error) : fail('IO', `${url}: ${error.message}`, error)));

// Tells how much of it has come; its size may not be known, or be that of a compressed form.
async function readAll(response, tell) {
    const total = Number(response.headers.get('content-length')) || 16 * MIB, parts = [];
    let received = 0;
    for (const reader = response.body.getReader(); ;) {
        const { done, value } = await whole(reader.read(), response.url);
        if (done)
            break;
        parts.push(value);
        received += value.length;
        tell(Math.min(received / total, 1));
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const isSize = value => Number.isInteger(value) && value > 0 && value < 2 ** 31;

function readIndex(bytes, url) {
    let index;
    try {
        index = JSON.parse(new TextDecoder().decode(bytes));
    } catch (error) {
        fail('INVALID_MODEL', `${url}: ${error.message}`, error);
    }
    const { format, bytes: size, chunks } = index ?? {};
    const good = format === 'tessera chunks 1' && isSize(size) && Array.isArray(chunks) && chunks.length > 0 &&
        chunks.every(chunk => typeof chunk?.file === 'string' && isSize(chunk.bytes) && /^[0-9a-f]{64}$/.test(chunk.sha256)) &&
        chunks.reduce((sum, chunk) => sum + chunk.bytes, 0) === size;
    return good ? index : fail('INVALID_MODEL', `${url}: this is no index of a model's chunks`);
}

const hex = buffer => [...new Uint8Array(buffer)].map(byte => byte.toString(16).padStart(2, '0')).join('');

const isRight = async (bytes, { bytes: size, sha256 }) =>
    bytes.length === size && hex(await crypto.subtle.digest('SHA-256', bytes)) === sha256;

// Pages may have no cache, or no room in it.
async function openCache() {
    try {
        return await globalThis.caches?.open(CACHE);
    } catch {
        return undefined;
    }
}

async function fetchChunk(chunk, base, cache, signal) {
    const key = new URL(`/${CACHE}/${chunk.sha256}`, base).href, kept = await cache?.match(key).catch(() => undefined);
    if (kept) {
        const bytes = new Uint8Array(await kept.arrayBuffer());
        if (await isRight(bytes, chunk))
            return bytes;
        await cache.delete(key);
    }
    const url = new URL(chunk.file.split('/').map(encodeURIComponent).join('/'), base);
    const bytes = new Uint8Array(await whole((await request(url, signal)).arrayBuffer(), url));
    if (!await isRight(bytes, chunk))
        fail('INVALID_MODEL', `${url}: this is not the chunk that the index names, of ${chunk.bytes} bytes: it is cut or altered`);
    await cache?.put(key, new Response(bytes)).catch(() => {});
    return bytes;
}

async function fetchChunks({ bytes: size, chunks }, base, signal, tell) {
    if (!globalThis.crypto?.subtle)
        fail('UNSUPPORTED', `${base}: chunks are checked by hashes, which a page can compute over https and on localhost alone`);
    const model = new Uint8Array(size), cache = await openCache(), stop = new AbortController();
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    let next = 0, begin = 0, received = 0;
    const work = async () => {
        while (next < chunks.length) {
            const chunk = chunks[next++], at = begin;
            begin += chunk.bytes;
            model.set(await fetchChunk(chunk, base, cache, either), at);
            tell((received += chunk.bytes) / size);
        }
    };
    const works = Array.from({ length: AT_ONCE }, work);
    await Promise.all(works).catch(() => stop.abort());
    const failed = (await Promise.allSettled(works)).filter(({ status }) => status === 'rejected');
    if (failed.length)
        throw failed.map(({ reason }) => reason).find(reason => reason.status) ?? failed[0].reason; // not what stop did
    return model;
}

/** The bytes of a model. tell(fraction) */
export async function download(url, signal, tell) {
    const response = await request(url, signal), isIndex = /\.json$/.test(url.pathname);
    const bytes = await readAll(response, isIndex ? () => {} : tell);
    return isIndex ? fetchChunks(readIndex(bytes, url), url, signal, tell) : bytes;
}
