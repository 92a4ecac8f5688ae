// Debian's Chromium on a software driver, with a server of files. It needs npm's playwright-core, in a folder that NODE_PATH names
// or above the current one.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const models = process.env.TSR_MODELS ?? resolve(root, '../shared/models');

const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript',
    '.wasm': 'application/wasm', '.png': 'image/png', '.json': 'application/json' };
const drivers = {
    llvmpipe: ['--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
    swiftshader: ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
        '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
};

// folders: { '/web/': '/path' }; an empty page is at '/' if no folder is.
function serve(folders) {
    return (request, response) => {
        const { pathname } = new URL(request.url, 'http://localhost');
        const prefix = Object.keys(folders).find(p => pathname.startsWith(p));
        let file = prefix && join(folders[prefix], decodeURIComponent(pathname.slice(prefix.length)));
        if (file?.endsWith('/'))
            file += 'index.html';
        if (file && existsSync(file) && statSync(file).isFile()) {
            response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
            response.setHeader('content-length', statSync(file).size);
            createReadStream(file).pipe(response);
        } else if (pathname === '/') {
            response.setHeader('content-type', 'text/html');
            response.end('<!doctype html><title>Tessera</title><link rel=icon href=data:,>');
        } else {
            response.statusCode = 404;
            response.end();
        }
    };
}

// Calls fn(page, url, browser) with a page of a server of these folders.
export async function withPage(driver, folders, fn) {
    if (!drivers[driver])
        throw new Error(`there is no driver '${driver}', only ${Object.keys(drivers).join(' and ')}`);
    const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
    const server = createServer(serve(folders)).listen(0), url = `http://localhost:${server.address().port}/`;
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-quic', '--js-flags=--expose-gc', ...drivers[driver]],
        env: { ...process.env, EGL_PLATFORM: 'surfaceless', LIBGL_ALWAYS_SOFTWARE: '1' },
    });
    try {
        const page = await browser.newPage();
        await page.goto(url);
        return await fn(page, url, browser);
    } finally {
        await browser.close();
        server.close();
    }
}
