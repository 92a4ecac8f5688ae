// Serves a folder at localhost.
// Usage: node serve.mjs FOLDER [PORT]     port 8080, or 0 for any that is free
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
    '.css': 'text/css; charset=utf-8', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
    '.json': 'application/json', '.mjs': 'text/javascript; charset=utf-8', '.png': 'image/png', '.svg': 'image/svg+xml',
    '.txt': 'text/plain; charset=utf-8', '.wasm': 'application/wasm',
};

// The file of a URL, if there is one in the first folder whose prefix fits.
async function find(folders, url) {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
    const prefix = Object.keys(folders).find(start => path.startsWith(start));
    if (!prefix || path.includes('\0'))
        throw new Error(`there is no folder for ${path}`);
    const folder = resolve(folders[prefix]), file = join(folder, path.slice(prefix.length), path.endsWith('/') ? 'index.html' : '');
    if (!file.startsWith(folder + sep))
        throw new Error(`${path} is not in its folder`);
    const info = await stat(file);
    if (!info.isFile())
        throw new Error(`${path} is no file`);
    return { file, info };
}

async function answer(folders, request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD')
        return response.writeHead(405, { allow: 'GET, HEAD' }).end();
    const found = await find(folders, request.url).catch(() => undefined);
    if (!found)
        return response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.\n');
    const tag = `"${found.info.size.toString(36)}-${found.info.mtimeMs.toString(36)}"`;
    const headers = { etag: tag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
    if (request.headers['if-none-match'] === tag)
        return response.writeHead(304, headers).end();
    response.writeHead(200, {
        ...headers, 'content-type': TYPES[extname(found.file)] ?? 'application/octet-stream', 'content-length': found.info.size,
    });
    return request.method === 'HEAD' ? response.end()
        : createReadStream(found.file).on('error', () => response.destroy()).pipe(response);
}

/** Resolves to a listening server of folders: { '/prefix/': folder }. */
export function serve(folders, port = 0) {
    const server = createServer((request, response) => answer(folders, request, response));
    return new Promise((done, fail) => server.on('error', fail).listen(port, '127.0.0.1', () => done(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [folder, port = '8080'] = process.argv.slice(2);
    if (!folder || !/^\d{1,5}$/.test(port)) {
        console.error('usage: node serve.mjs FOLDER [PORT]');
        process.exit(2);
    }
    const server = await serve({ '/': folder }, Number(port)).catch(error => {
        console.error(`serve.mjs: ${error.message}`);
        process.exit(2);
    });
    console.log(`http://localhost:${server.address().port}/ shows ${folder}; Ctrl+C ends it`);
}
