// Browsers on software drivers, with a server of files. They need npm's puppeteer-core, in a folder that NODE_PATH names or above
// the current one, and firefox a display (xvfb-run): it has no WebGL without.
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../../tools/serve.mjs';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const models = process.env.TSR_MODELS ?? resolve(root, '../shared/models');
export const tool = `${process.env.TSR_BUILD_DIR ?? `${root}/build-dev`}/tessera`;

// A camera, where a page asks for one, is a made-up one.
const chromium = (...flags) => ({
    browser: 'chrome', executablePath: '/usr/bin/chromium', env: { EGL_PLATFORM: 'surfaceless' },
    args: ['--no-sandbox', '--disable-quic', '--js-flags=--expose-gc', '--use-gl=angle', '--ignore-gpu-blocklist',
        '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', ...flags],
});
const drivers = {
    llvmpipe: chromium('--use-angle=gl-egl'),
    // Without Vulkan the browser's GPU process ends where a canvas gets the context webgpu.
    swiftshader: chromium('--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--enable-unsafe-webgpu',
        '--use-webgpu-adapter=swiftshader', '--use-vulkan=swiftshader', '--enable-features=Vulkan'),
    firefox: {
        browser: 'firefox', executablePath: '/usr/bin/firefox-esr', headless: false,
        extraPrefsFirefox: { 'media.navigator.streams.fake': true, 'media.navigator.permission.disabled': true },
    },
};

/**
 * A browser, and the URL at which a server shows these folders: { '/web/': '/path' }; close() ends both. devtools: does the browser
 * have Chromium's own protocol? env: variables of the browser's environment.
 */
export async function launch(driver, folders, env = {}) {
    if (!drivers[driver])
        throw new Error(`there is no driver '${driver}', only ${Object.keys(drivers).join(', ')}`);
    const puppeteer = createRequire(`${process.cwd()}/`)('puppeteer-core');
    const server = await serve({ '/support/': `${root}/tests/support`, ...folders });
    const browser = await puppeteer.launch({
        ...drivers[driver], env: { ...process.env, LIBGL_ALWAYS_SOFTWARE: '1', ...drivers[driver].env, ...env },
        protocolTimeout: 0, defaultViewport: null,
    });
    const close = async () => {
        await browser.close();
        server.close();
    };
    const url = `http://localhost:${server.address().port}/`, devtools = drivers[driver].browser === 'chrome';
    return { browser, devtools, server, url, close };
}

/** Calls fn(page, url) with an empty page beside these folders. */
export async function withPage(driver, folders, fn) {
    const { browser, url, close } = await launch(driver, folders);
    try {
        const page = await browser.newPage();
        await page.goto(`${url}support/empty.html`);
        return await fn(page, url);
    } finally {
        await close();
    }
}
