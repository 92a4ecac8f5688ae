// The picture page: any network with a picture as its input, on pictures and the camera.
import { bestBoxes, boxDecoder, drawBoxes, guessView, largest, pictureSizes, toImage, toOverlay } from './results.mjs';
import { $, acceptFiles, BACKENDS, calm, complain, describeDevice, fill, HALVES, Holder, linkFileButton, make, makeClock,
    makeLive, makeModelChoice, ms, saveCanvas, say, shapeText, SHIPPED } from './shared.mjs';

const EXAMPLE = 'sketches/coloured_fish.png';
const RANGES = [['0 1', '0 to 1'], ['-1 1', '−1 to 1'], ['0 255', '0 to 255'], 
    ['imagenet', 'ImageNet’s mean and deviation'], ['own', 'Mean and scale …']];
const VIEWS = [['auto', 'What fits'], ['picture', 'Picture'], ['mask', 'Mask over the picture'], ['classes', 'Class of each pixel'],
    ['boxes', 'Boxes'], ['values', 'Largest values']];
const IMAGENET = { mean: [123.675, 116.28, 103.53], scale: [1 / 58.395, 1 / 57.12, 1 / 57.375] };

const holder = new Holder();
let model, picture, camera, clock = makeClock();

// ---- settings ------------------------------------------------------------------------------------

function numbers(text) {
    const list = text.split(/[\s,]+/).filter(Boolean).map(Number);
    if (!list.length || list.some(x => !Number.isFinite(x)))
        throw new Error(`'${text}' is no list of numbers`);
    return list.length === 1 ? list[0] : list;
}

// (value - mean) * scale of pixels of 0 to 255.
function pixelOptions(range) {
    if (range === 'imagenet')
        return IMAGENET;
    if (range === 'own')
        return { mean: numbers($('mean').value), scale: numbers($('scale').value) };
    const [low, high] = range.split(' ').map(Number);
    return { mean: -255 * low / (high - low), scale: (high - low) / 255 };
}

const inputOptions = () => ({ ...pixelOptions($('input-range').value), order: $('order').value });
const outputRange = () => $('output-range').value === 'same' ? $('input-range').value : $('output-range').value;

// 'N=1 x=1x3x256x256': symbolic dimensions, and shapes of inputs.
function openSizes() {
    const dims = {}, shapes = {};
    for (const part of $('open').value.split(/[\s,;]+/).filter(Boolean)) {
        const [, name, sizes] = /^(.+)=(\d+(?:x\d+)*)$/.exec(part) ?? [];
        if (!name)
            throw new Error(`'${part}' in the open sizes is neither name=size nor name=1x3x256x256`);
        if (sizes.includes('x'))
            shapes[name] = sizes.split('x').map(Number);
        else
            dims[name] = Number(sizes);
    }
    return { dims, shapes };
}

// ---- a run ---------------------------------------------------------------------------------------

// What the network gets, on the canvas that shows it.
function drawSource({ width, height }) {
    const canvas = $('source'), context = canvas.getContext('2d', { alpha: false });
    if (canvas.width !== width || canvas.height !== height)
        Object.assign(canvas, { width, height });
    const wide = picture.videoWidth ?? picture.width, high = picture.videoHeight ?? picture.height;
    const part = $('crop').checked ? Math.min(wide / width, high / height) : 0;
    const w = part ? width * part : wide, h = part ? height * part : high;
    context.imageSmoothingQuality = 'high';
    context.fillStyle = '#fff';
    context.fillRect(0, 0, width, height);
    context.drawImage(picture, (wide - w) / 2, (high - h) / 2, w, h, 0, 0, width, height);
    return canvas;
}

// The canvas of results, with this size. Its context is 2d, also for the network's own drawing.
function resultContext({ width, height }) {
    const canvas = $('result');
    if (canvas.width !== width || canvas.height !== height)
        Object.assign(canvas, { width, height });
    return canvas.getContext('2d');
}

const views = {
    mask: showOverlay,
    classes: showOverlay,
    picture(results, output) {
        const sizes = picturesOf(output);
        resultContext(sizes).putImageData(toImage(results[output.name], sizes), 0, 0);
    },
    boxes(results, output, outputs) {
        const decode = boxDecoder(outputs);
        if (!decode)
            throw new Error('there are no two outputs of boxes, [1, n, 4], and of scores, [1, n, classes]');
        const best = bestBoxes(decode(results, $('source')), $('score').valueAsNumber || 0), context = copySource();
        drawBoxes(context, best);
        $('about-output').textContent = `${best.length} box${best.length === 1 ? '' : 'es'}`;
    },
    values(results, output) {
        $('values').replaceChildren(...largest(results[output.name]).map(([index, value]) =>
            make('li', { textContent: `element ${index}: ${value.toPrecision(4)}` })));
    },
};

function picturesOf({ name, shape }) {
    const sizes = pictureSizes(shape, $('layout').value);
    if (!sizes)
        throw new Error(`output ${name}, ${shapeText(shape)}, is no picture`);
    return sizes;
}

// What the network got, twice as large if it is small.
function copySource() {
    const { width, height } = $('source'), times = width < 400 ? 2 : 1;
    const context = resultContext({ width: times * width, height: times * height });
    context.drawImage($('source'), 0, 0, times * width, times * height);
    return context;
}

function showOverlay(results, output) {
    const sizes = picturesOf(output), context = copySource(), { width, height } = context.canvas;
    const over = make('canvas', { width: sizes.width, height: sizes.height });
    over.getContext('2d').putImageData(toOverlay(results[output.name], sizes), 0, 0);
    context.drawImage(over, 0, 0, width, height);
}

async function show(network, inputs, output) {
    const chosen = $('view').value, view = chosen === 'auto' ? guessView(output, network.outputs) : chosen, range = outputRange();
    $('values').hidden = view !== 'values';
    $('result').hidden = view === 'values';
    $('save').disabled = view === 'values';
    $('about-output').textContent = `${output.name}: ${shapeText(output.shape)}`;
    if (view === 'picture' && range !== 'spread') {
        const sizes = picturesOf(output), { canvas } = resultContext(sizes);
        const options = { output: output.name, layout: sizes.layout, order: $('order').value, ...pixelOptions(range) };
        await network.render(inputs, canvas, options);
    } else {
        views[view](await network.run(inputs), output, network.outputs);
    }
}

async function work() {
    const { network } = holder;
    if (!network || !picture)
        return;
    try {
        const [input] = network.inputs, sizes = pictureSizes(input.shape, $('layout').value);
        if (!sizes)
            throw new Error(`input ${input.name}, ${shapeText(input.shape)}, takes no picture`);
        const begin = performance.now(), { layout } = sizes;
        await show(network, { [input.name]: { picture: drawSource(sizes), layout, ...inputOptions() } },
            network.outputs.find(({ name }) => name === $('output').value) ?? network.outputs[0]);
        $('time').textContent = `${ms(clock(performance.now() - begin))} a picture`;
        calm();
    } catch (error) {
        if (network !== holder.network)
            return;
        complain('The network’s result cannot be shown', error);
        stopCamera();
    }
    if (camera)
        live();
}

// ---- networks ------------------------------------------------------------------------------------

async function open() {
    calm();
    try {
        const network = await holder.open(model.source, {
            backend: $('backend').value, precision: $('precision').value, name: model.name, ...openSizes(),
        });
        if (!network)
            return;
        clock = makeClock();
        fill($('output'), network.outputs.map(({ name, shape }) => [name, `${name} · ${shapeText(shape)}`]));
        $('about-input').textContent = network.inputs.map(({ name, shape }) => `${name}: ${shapeText(shape)}`).join('; ') +
            (network.inputs.length > 1 ? ' (the first one gets the picture, the others zeros)' : '');
        $('device').textContent = await describeDevice(network);
        live();
    } catch (error) {
        $('time').textContent = '';
        complain(`${model.name} cannot be loaded`, error);
        if (error.status === 'SHAPE' || / shape of input /.test(error.message))
            $('alert').append(' Give them below, under Open sizes, as in N=1 or x=1x3x256x256.');
    }
}

function use(chosen) {
    model = chosen;
    if ([SHIPPED, HALVES].includes(model.name))
        $('input-range').value = '-1 1';
    showFields();
    return open();
}

// ---- pictures ------------------------------------------------------------------------------------

async function usePicture(blob, name) {
    try {
        picture = await createImageBitmap(blob);
        stopCamera();
        live();
    } catch (error) {
        complain(`${name} cannot be shown as a picture`, error);
    }
}

function useFile(file) {
    if (file)
        /\.onnx$/i.test(file.name) ? choice.take(file) : usePicture(file, file.name);
}

function stopCamera() {
    camera?.getTracks().forEach(track => track.stop());
    camera = undefined;
    $('camera').setAttribute('aria-pressed', 'false');
}

async function toggleCamera() {
    if (camera)
        return stopCamera();
    if (!navigator.mediaDevices?.getUserMedia)
        return complain('This browser gives this page no camera; it needs https or localhost');
    try {
        camera = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'user' } });
        const video = $('video');
        video.srcObject = camera;
        await video.play();
        picture = video;
        $('camera').setAttribute('aria-pressed', 'true');
        live();
    } catch (error) {
        stopCamera();
        complain('The camera cannot be used', error);
    }
}

// ---- the page ------------------------------------------------------------------------------------

function showFields() {
    $('mean-field').hidden = $('scale-field').hidden = $('input-range').value !== 'own';
}

async function start() {
    const response = await fetch(EXAMPLE);
    picture = await createImageBitmap(await response.blob());
    await choice.start();
}

fill($('backend'), BACKENDS, new URLSearchParams(location.search).get('backend') ?? 'auto');
fill($('input-range'), RANGES, '0 1');
fill($('output-range'), [['same', 'As they go in'], ...RANGES.slice(0, 4), ['spread', 'From least to largest']], 'same');
fill($('view'), VIEWS, 'auto');
showFields();
const live = makeLive(work);
for (const id of ['input-range', 'mean', 'scale', 'order', 'layout', 'crop', 'output', 'view', 'output-range', 'score'])
    $(id).addEventListener('change', () => {
        showFields();
        live();
    });
for (const id of ['backend', 'precision', 'open'])
    $(id).addEventListener('change', open);
$('form').addEventListener('submit', event => event.preventDefault());
$('camera').addEventListener('click', toggleCamera);
$('save').addEventListener('click', () =>
    saveCanvas($('result'), 'result.png').catch(error => complain('The picture cannot be saved', error)));
const choice = makeModelChoice(use);
linkFileButton($('picture-button'), $('picture-file'), ([file]) => useFile(file));
acceptFiles(files => files.forEach(useFile));
say('');
start().catch(error => complain('The page cannot start', error));
