// The pages of demos/web in a browser: drawing with mouse, touch, pen and keys, pictures against tessera run, every page at
// three widths, offline; no page may have errors in its console or ask other servers.
// Usage: node web_demos.mjs [llvmpipe|swiftshader|firefox] [FOLDER], after tools/web.sh build and pages; screenshots go to the
// folder. See support/browsers.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, root, tool } from './support/browsers.mjs';
import { readNpy, writeNpy } from './support/npy.mjs';

const [driver = 'llvmpipe', into = mkdtempSync(join(tmpdir(), 'tessera-pages-'))] = process.argv.slice(2), folder = resolve(into);
mkdirSync(folder, { recursive: true });
const PAGES = ['index.html', 'image.html', 'layers.html', 'bench.html'];
const WIDTHS = [[360, 740], [800, 1000], [1440, 900]], [, , WIDE] = WIDTHS;
const { browser, devtools, server, url, close } = await launch(driver, { '/': `${root}/build-web/site` });
const SCHEMES = devtools ? ['light', 'dark'] : ['own'];
if (!devtools)
    console.log(`lacking: a pen's pressure and dark pages in ${driver}`);
const problems = [];

// A page whose complaints are noted.
async function openPage(name, [width, height] = WIDE, options = {}) {
    const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'allow', downloadPath: folder } });
    const page = await context.newPage();
    page.setDefaultTimeout(120000);
    await page.setViewport({ width, height, ...options });
    page.on('console', message => message.type() === 'error' && problems.push(`${name}: ${message.text()}`));
    page.on('pageerror', error => problems.push(`${name}: ${error.message}`));
    page.on('request', request => {
        if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url()))
            problems.push(`${name}: asks for ${request.url()}`);
    });
    await page.goto(url + name);
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
        await sleep(1000);
        const next = await pixels(page, selector);
        if (!differ(last, next))
            return next;
        last = next;
    }
}

// Does act change what the canvas shows, once it has settled? On a busy machine that takes a while.
async function changes(page, selector, what, act) {
    const before = await settled(page, selector);
    await act();
    const end = Date.now() + 60000;
    while (!differ(before, await pixels(page, selector)) && Date.now() < end)
        await sleep(200);
    const after = await settled(page, selector);
    assert.ok(differ(before, after), `${what}: ${selector} stays as it is`);
    console.log(`ok: ${what}`);
    return { before, after };
}

const textOf = (page, selector) => page.$eval(selector, element => element.textContent);
const boxOf = async (page, selector) => (await page.$(selector)).boundingBox();

const ready = page => page.waitForFunction(() =>
    document.getElementById('time')?.textContent || document.getElementById('alert').textContent);

async function dragMouse(page) {
    const box = await boxOf(page, '#pad'), at = part => [box.x + part * box.width, box.y + 0.4 * box.height];
    await page.mouse.move(...at(0.2));
    await page.mouse.down();
    for (const part of [0.4, 0.6, 0.8])
        await page.mouse.move(...at(part), { steps: 4 });
    await page.mouse.up();
}

async function dragFinger(page) {
    const box = await boxOf(page, '#pad'), at = part => [box.x + part * box.width, box.y + (0.2 + 0.6 * part) * box.height];
    await page.touchscreen.touchStart(...at(0.1));
    for (const part of [0.3, 0.5, 0.7, 0.9])
        await page.touchscreen.touchMove(...at(part));
    await page.touchscreen.touchEnd();
}

// Dark pixels of a line by a pen that is pressed so hard.
async function inkOfPen(page, session, force) {
    const box = await boxOf(page, '#pad');
    const pen = { y: box.y + 0.5 * box.height, button: 'left', buttons: 1, force, pointerType: 'pen' };
    const send = (type, part) => session.send('Input.dispatchMouseEvent', { type, x: box.x + part * box.width, ...pen });
    await page.click('::-p-text(Clear)');
    await send('mousePressed', 0.2);
    await send('mouseMoved', 0.8);
    await send('mouseReleased', 0.8);
    return (await pixels(page, '#pad')).filter((x, i) => i % 4 === 0 && x < 128).length;
}

async function testPen(page) {
    const session = await page.createCDPSession(), soft = await inkOfPen(page, session, 0.1), hard = await inkOfPen(page, session, 0.9);
    assert.ok(soft > 0 && hard > 2 * soft, `a pen's line has ${soft} pixels, pressed hard ${hard}`);
    console.log("ok: a pen's pressure");
}

async function press(page, ...keys) {
    for (const key of keys)
        await page.keyboard.down(key);
    for (const key of keys.reverse())
        await page.keyboard.up(key);
}

async function moveByKeys(page) {
    await page.focus('#pad');
    for (const key of [' ', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown', ' '])
        await page.keyboard.press(key);
}

// In the page: an example as the network's input.
async function drawExample() {
    const { Drawing } = await import('./drawing.mjs'), count = 256 * 256;
    const canvas = Object.assign(document.createElement('canvas'), { width: 256, height: 256 });
    new Drawing([canvas]).play(await (await fetch('sketches/hand_cat.txt')).text());
    const { data } = canvas.getContext('2d').getImageData(0, 0, 256, 256);
    return Array.from({ length: 3 * count }, (_, i) => data[4 * (i % count) + Math.floor(i / count)] / 127.5 - 1);
}

// Pixels of the picture that `tessera run` makes of it, of the page's own model.
function runNatively(sketch) {
    const from = `${folder}/sketch.npy`, to = `${folder}/picture.npy`, count = 256 * 256;
    writeFileSync(from, writeNpy([1, 3, 256, 256], Float32Array.from(sketch)));
    execFileSync(tool, ['run', `${root}/build-web/site/models/edges2emoji-int8.onnx`, '--backend', 'cpu', '-i', from, '-o', to]);
    const picture = readNpy(readFileSync(to));
    return Array.from({ length: 4 * count }, (_, i) =>
        (i % 4 === 3 ? 255 : Math.round(Math.min(Math.max((picture[i % 4 * count + (i >> 2)] + 1) * 127.5, 0), 255))));
}

async function testDrawing() {
    const page = await openPage('index.html?backend=webgl', WIDE, { hasTouch: true });
    await ready(page);
    assert.equal(await textOf(page, '#alert'), '');
    const { before } = await changes(page, '#picture', 'a line by mouse', () => dragMouse(page));
    const { after } = await changes(page, '#picture', 'undo', () => press(page, 'Control', 'z'));
    assert.ok(!differ(before, after), 'undo does not bring the picture back');
    await changes(page, '#picture', 'redo', () => press(page, 'Control', 'Shift', 'z'));
    await changes(page, '#picture', 'a line by touch', () => dragFinger(page));
    if (devtools)
        await testPen(page);
    await changes(page, '#pad', 'a line by keys', () => moveByKeys(page));
    await changes(page, '#picture', 'an example', () => page.click('[aria-label="Draw the cat"]'));
    const shown = await settled(page, '#picture'), expected = runNatively(await page.evaluate(drawExample));
    const largest = shown.reduce((most, x, i) => Math.max(most, Math.abs(x - expected[i])), 0);
    console.log(`${largest <= 2 ? 'ok' : 'FAIL'}: the picture is within ${largest} of 255 of what tessera run makes`);
    assert.ok(largest <= 2);
    await testDownload(page);
    await testOffline(page);
    await page.browserContext().close();
}

async function testDownload(page) {
    const path = `${folder}/picture.png`;
    rmSync(path, { force: true });
    await page.click('#save-picture');
    for (let i = 0; i < 100 && !existsSync(path); i++)
        await sleep(100);
    assert.equal(readFileSync(path).toString('latin1', 1, 4), 'PNG');
    console.log('ok: a picture saved');
}

// The last test: the server is gone.
async function testOffline(page) {
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    server.close();
    server.closeAllConnections();
    for (const name of PAGES.slice(0, 3)) {
        await page.goto(url + name);
        await ready(page);
        assert.equal(await textOf(page, '#alert'), '', `${name}, offline`);
    }
    console.log('ok: offline');
}

async function testCamera() {
    const page = await openPage('image.html');
    await ready(page);
    const before = await pixels(page, '#result');
    await page.click('#camera');
    await sleep(3000);
    assert.ok(differ(before, await pixels(page, '#result')), 'the camera changes nothing');
    await page.click('#camera');
    assert.equal(await textOf(page, '#alert'), '');
    console.log('ok: camera');
    await page.browserContext().close();
}

async function testLayers() {
    const page = await openPage('layers.html');
    await ready(page);
    await changes(page, '#mosaic', 'the next tensor', () => page.click('#next'));
    await changes(page, '#mosaic', 'a mosaic of a new drawing', () => dragMouse(page));
    assert.equal(await textOf(page, '#alert'), '');
    await page.browserContext().close();
}

async function testBench() {
    const page = await openPage('bench.html');
    await page.waitForFunction(() => !document.getElementById('start').disabled);
    await page.locator('#runs').fill('3');
    await page.click('#start');
    const measured = () => document.getElementById('status').textContent === 'All is measured';
    await page.waitForFunction(measured, { timeout: 600000 });
    const rows = await page.$$eval('#table tbody tr', list => list.map(row => row.innerText.replaceAll('\t', ' | ')));
    rows.forEach(row => console.log(`  ${row}`));
    assert.ok(rows.length && !rows[0].includes('failed'));
    await page.screenshot({ path: `${folder}/bench-results.png`, fullPage: true });
    await page.setViewport({ width: 360, height: 740 });
    await sleep(500);
    assert.equal(await textOf(page, '#alert'), '');
    await page.screenshot({ path: `${folder}/bench-results-360.png`, fullPage: true });
    await page.browserContext().close();
    console.log('ok: bench');
}

// Nothing may be wider than the window.
async function testWidths() {
    for (const name of PAGES)
        for (const [width, height] of WIDTHS)
            for (const scheme of SCHEMES) {
                const page = await openPage(name, [width, height]);
                if (devtools)
                    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
                if (name !== 'bench.html') {
                    await ready(page);
                    await sleep(1000);
                }
                const wide = await page.evaluate(() => document.documentElement.scrollWidth);
                assert.ok(wide <= width, `${name} at ${width}: ${wide} pixels wide`);
                const path = `${folder}/${name.replace('.html', '')}-${width}-${scheme}.png`;
                await page.screenshot({ path, fullPage: true });
                await page.browserContext().close();
            }
    console.log(`ok: every page at ${WIDTHS.map(([width]) => width).join(', ')} pixels: ${folder}`);
}

try {
    for (const test of [testCamera, testLayers, testWidths, testBench, testDrawing])
        await test();
    assert.deepEqual(problems, []);
    console.log('ok: no errors, no requests to other servers');
} finally {
    problems.forEach(problem => console.log(`problem: ${problem}`));
    await close();
}
