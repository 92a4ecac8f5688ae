// The pages of demos/web in Chromium: drawing with mouse, touch and keys, pictures against the network's own run, every page at
// three widths, offline; no page may have errors in its console or ask other servers.
// Usage: node web_demos.mjs [FOLDER], after tools/web.sh build and pages; screenshots go to the folder. It needs Debian's
// chromium and npm's playwright-core, in a folder that NODE_PATH names or above the current one.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../tools/serve.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'tessera-pages-'));
const PAGES = ['index.html', 'image.html', 'layers.html', 'bench.html'];
const WIDTHS = [[360, 740], [800, 1000], [1440, 900]];
const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const server = await serve(`${root}/build-web/site`), origin = `http://localhost:${server.address().port}`;
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-quic', '--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist',
        '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
    env: { ...process.env, EGL_PLATFORM: 'surfaceless', LIBGL_ALWAYS_SOFTWARE: '1' },
});
const problems = [];

// A page whose complaints are noted.
async function openPage(name, options = {}) {
    const context = await browser.newContext(options), page = await context.newPage();
    page.setDefaultTimeout(120000);
    page.on('console', message => message.type() === 'error' && problems.push(`${name}: ${message.text()}`));
    page.on('pageerror', error => problems.push(`${name}: ${error.message}`));
    page.on('request', request => {
        if (!request.url().startsWith(origin) && !/^(blob|data):/.test(request.url()))
            problems.push(`${name}: asks for ${request.url()}`);
    });
    await page.goto(`${origin}/${name}`);
    return page;
}

const pixels = (page, selector) => page.$eval(selector, async canvas => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height), context = copy.getContext('2d');
    context.drawImage(canvas, 0, 0);
    return [...context.getImageData(0, 0, canvas.width, canvas.height).data];
});
const differ = (a, b) => a.length !== b.length || a.some((x, i) => x !== b[i]);

// When the canvas has stayed the same for a while.
async function settled(page, selector) {
    for (let last = await pixels(page, selector); ;) {
        await page.waitForTimeout(1000);
        const next = await pixels(page, selector);
        if (!differ(last, next))
            return next;
        last = next;
    }
}

// Does act change what the canvas shows, once it has settled?
async function changes(page, selector, what, act) {
    const before = await settled(page, selector);
    await act();
    const after = await settled(page, selector);
    assert.ok(differ(before, after), `${what}: ${selector} stays as it is`);
    console.log(`ok: ${what}`);
    return { before, after };
}

const ready = page => page.waitForFunction(() =>
    document.getElementById('time')?.textContent || document.getElementById('alert').textContent);

async function dragMouse(page) {
    const box = await page.locator('#pad').boundingBox(), at = part => [box.x + part * box.width, box.y + 0.4 * box.height];
    await page.mouse.move(...at(0.2));
    await page.mouse.down();
    for (const part of [0.4, 0.6, 0.8])
        await page.mouse.move(...at(part), { steps: 4 });
    await page.mouse.up();
}

async function dragFinger(page) {
    const session = await page.context().newCDPSession(page), box = await page.locator('#pad').boundingBox();
    const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points });
    const at = part => ({ x: box.x + part * box.width, y: box.y + (0.2 + 0.6 * part) * box.height });
    await touch('touchStart', at(0.1));
    for (const part of [0.3, 0.5, 0.7, 0.9])
        await touch('touchMove', at(part));
    await touch('touchEnd');
}

// Dark pixels of a line by a pen that is pressed so hard.
async function inkOfPen(page, force) {
    const session = await page.context().newCDPSession(page), box = await page.locator('#pad').boundingBox();
    const pen = { y: box.y + 0.5 * box.height, button: 'left', buttons: 1, force, pointerType: 'pen' };
    const send = (type, part) => session.send('Input.dispatchMouseEvent', { type, x: box.x + part * box.width, ...pen });
    await page.click('text=Clear');
    await send('mousePressed', 0.2);
    await send('mouseMoved', 0.8);
    await send('mouseReleased', 0.8);
    return (await pixels(page, '#pad')).filter((x, i) => i % 4 === 0 && x < 128).length;
}

async function moveByKeys(page) {
    await page.focus('#pad');
    for (const key of [' ', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown', ' '])
        await page.keyboard.press(key);
}

// In the page: what the network makes of an example, from an array.
async function runExample() {
    const { Drawing } = await import('./drawing.mjs'), { load } = await import('./tessera/tessera.mjs');
    const canvas = Object.assign(document.createElement('canvas'), { width: 256, height: 256 });
    new Drawing([canvas]).play(await (await fetch('sketches/hand_cat.txt')).text());
    const { data } = canvas.getContext('2d').getImageData(0, 0, 256, 256), count = 256 * 256;
    const sketch = Float32Array.from({ length: 3 * count }, (_, i) => data[4 * (i % count) + Math.floor(i / count)] / 127.5 - 1);
    const network = await load('models/edges2emoji.onnx', { backend: 'webgl' });
    const { picture } = await network.run({ sketch });
    network.dispose();
    return Array.from({ length: 4 * count }, (_, i) =>
        (i % 4 === 3 ? 255 : Math.round(Math.min(Math.max((picture[i % 4 * count + (i >> 2)] + 1) * 127.5, 0), 255))));
}

async function testDrawing() {
    const page = await openPage('index.html?backend=webgl', { viewport: { width: 1440, height: 900 }, hasTouch: true });
    await ready(page);
    assert.equal(await page.textContent('#alert'), '');
    const { before } = await changes(page, '#picture', 'a line by mouse', () => dragMouse(page));
    const { after } = await changes(page, '#picture', 'undo', () => page.keyboard.press('Control+z'));
    assert.ok(!differ(before, after), 'undo does not bring the picture back');
    await changes(page, '#picture', 'redo', () => page.keyboard.press('Control+Shift+z'));
    await changes(page, '#picture', 'a line by touch', () => dragFinger(page));
    const [soft, hard] = [await inkOfPen(page, 0.1), await inkOfPen(page, 0.9)];
    assert.ok(soft > 0 && hard > 2 * soft, `a pen's line has ${soft} pixels, pressed hard ${hard}`);
    console.log("ok: a pen's pressure");
    await changes(page, '#pad', 'a line by keys', () => moveByKeys(page));
    await changes(page, '#picture', 'an example', () => page.click('[aria-label="Draw the cat"]'));
    const shown = await settled(page, '#picture'), expected = await page.evaluate(runExample);
    const largest = shown.reduce((most, x, i) => Math.max(most, Math.abs(x - expected[i])), 0);
    console.log(`${largest <= 2 ? 'ok' : 'FAIL'}: the picture is within ${largest} of 255 of the network's run`);
    assert.ok(largest <= 2);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-picture')]);
    assert.equal(download.suggestedFilename(), 'picture.png');
    await testOffline(page);
    await page.context().close();
}

async function testOffline(page) {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.context().setOffline(true);
    for (const name of PAGES.slice(0, 3)) {
        await page.goto(`${origin}/${name}`);
        await ready(page);
        assert.equal(await page.textContent('#alert'), '', `${name}, offline`);
    }
    await page.context().setOffline(false);
    console.log('ok: offline');
}

async function testCamera() {
    const page = await openPage('image.html', { viewport: { width: 1440, height: 900 }, permissions: ['camera'] });
    await ready(page);
    const before = await pixels(page, '#result');
    await page.click('#camera');
    await page.waitForTimeout(3000);
    assert.ok(differ(before, await pixels(page, '#result')), 'the camera changes nothing');
    await page.click('#camera');
    assert.equal(await page.textContent('#alert'), '');
    console.log('ok: camera');
    await page.context().close();
}

async function testLayers() {
    const page = await openPage('layers.html', { viewport: { width: 1440, height: 900 } });
    await ready(page);
    await changes(page, '#mosaic', 'the next tensor', () => page.click('#next'));
    await changes(page, '#mosaic', 'a mosaic of a new drawing', () => dragMouse(page));
    assert.equal(await page.textContent('#alert'), '');
    await page.context().close();
}

async function testBench() {
    const page = await openPage('bench.html', { viewport: { width: 1440, height: 900 } });
    await page.waitForFunction(() => !document.getElementById('start').disabled);
    await page.fill('#runs', '3');
    await page.click('#start');
    const measured = () => document.getElementById('status').textContent === 'All is measured';
    await page.waitForFunction(measured, null, { timeout: 600000 });
    const rows = await page.$$eval('#table tbody tr', list => list.map(row => row.innerText.replaceAll('\t', ' | ')));
    rows.forEach(row => console.log(`  ${row}`));
    assert.ok(rows.length && !rows[0].includes('failed'));
    await page.screenshot({ path: `${folder}/bench-results.png`, fullPage: true });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.waitForTimeout(500);
    assert.equal(await page.textContent('#alert'), '');
    await page.screenshot({ path: `${folder}/bench-results-360.png`, fullPage: true });
    await page.context().close();
    console.log('ok: bench');
}

// Nothing may be wider than the window.
async function testWidths() {
    for (const name of PAGES)
        for (const [width, height] of WIDTHS)
            for (const colorScheme of ['light', 'dark']) {
                const page = await openPage(name, { viewport: { width, height }, colorScheme });
                if (name !== 'bench.html') {
                    await ready(page);
                    await page.waitForTimeout(1000);
                }
                const wide = await page.evaluate(() => document.documentElement.scrollWidth);
                assert.ok(wide <= width, `${name} at ${width}: ${wide} pixels wide`);
                const path = `${folder}/${name.replace('.html', '')}-${width}-${colorScheme}.png`;
                await page.screenshot({ path, fullPage: true });
                await page.context().close();
            }
    console.log(`ok: every page at ${WIDTHS.map(([width]) => width).join(', ')} pixels: ${folder}`);
}

try {
    for (const test of [testDrawing, testCamera, testLayers, testWidths, testBench])
        await test();
    assert.deepEqual(problems, []);
    console.log('ok: no errors, no requests to other servers');
} finally {
    problems.forEach(problem => console.log(`problem: ${problem}`));
    await browser.close();
    server.close();
}
