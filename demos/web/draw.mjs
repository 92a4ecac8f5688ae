// The drawing page: the network's picture of the drawing, drawn again at each change.
import { makePad } from './pad.mjs';
import { $, acceptFiles, BACKENDS, calm, complain, describeDevice, fill, Holder, make, makeClock, makeLive, ms, saveCanvas, say,
    SHIPPED } from './shared.mjs';

const MODEL = `models/${SHIPPED}`, INPUT = 'sketch', RANGE = [-1, 1];
const holder = new Holder();
let clock = makeClock();

async function paint() {
    const { network } = holder;
    if (!network)
        return;
    try {
        const begin = performance.now();
        await network.render({ [INPUT]: input }, $('picture'), { range: RANGE });
        $('time').textContent = `${ms(clock(performance.now() - begin))} a picture`;
        $('save-picture').disabled = $('save-both').disabled = false;
    } catch (error) {
        if (network === holder.network)
            await recover(error);
    }
}

// A lost GPU may come back; other errors stay.
async function recover(error) {
    complain('The picture cannot be made', error);
    holder.network = undefined;
    if (error.status === 'DEVICE_LOST')
        await open();
}

async function open() {
    calm();
    clock = makeClock();
    $('device').textContent = '';
    try {
        const options = { backend: $('backend').value, precision: $('precision').value };
        const network = await holder.open(new URL(MODEL, location.href), options);
        if (!network)
            return;
        $('device').textContent = await describeDevice(network);
        say('The network is ready: draw');
        live();
    } catch (error) {
        complain('The network cannot be loaded', error);
    }
}

// The drawing and the picture, side by side.
async function saveBoth() {
    const size = 512, both = make('canvas', { width: 2 * size, height: size }), context = both.getContext('2d');
    context.drawImage($('pad'), 0, 0, size, size);
    context.drawImage($('picture'), size, 0, size, size);
    await saveCanvas(both, 'drawing-and-picture.png');
}

const trySaving = work => () => work().catch(error => complain('The picture cannot be saved', error));

fill($('backend'), BACKENDS, new URLSearchParams(location.search).get('backend') ?? 'auto');
const live = makeLive(paint);
const { drawing, input } = makePad({ pad: $('pad'), tools: $('tools'), examples: $('examples'), first: 'hand_face.txt' }, live);
$('backend').addEventListener('change', open);
$('precision').addEventListener('change', open);
$('save-picture').addEventListener('click', trySaving(() => saveCanvas($('picture'), 'picture.png')));
$('save-both').addEventListener('click', trySaving(saveBoth));
acceptFiles(async ([file]) => {
    try {
        drawing.put(await createImageBitmap(file));
    } catch (error) {
        complain(`${file.name} cannot be shown as a picture`, error);
    }
});
open();
