// The layer viewer: any tensor of a network as a mosaic of its channels, drawn again at each change of the drawing.
import { drawMosaic, planeSizes } from './mosaic.mjs';
import { makePad } from './pad.mjs';
import { pictureSizes } from './results.mjs';
import { $, acceptFiles, BACKENDS, calm, complain, describeDevice, fill, Holder, makeClock, makeLive, makeModelChoice, ms, say,
    shapeText } from './shared.mjs';

const holder = new Holder();
let model, layers = [], clock = makeClock(); // layers: of the report, in the network's order

async function look() {
    const { network } = holder, name = $('layer').value;
    const layer = layers.find(({ output }) => output === name);
    if (!network || !layer)
        return;
    try {
        const begin = performance.now(), [{ name: first, shape }] = network.inputs;
        const picture = { picture: input, layout: pictureSizes(shape)?.layout };
        const results = await network.run({ [first]: picture }, { range: $('range').value.split(' ').map(Number) });
        $('time').textContent = `${ms(clock(performance.now() - begin))} a run`;
        if (results[name])
            show(layer, results[name]);
    } catch (error) {
        if (network === holder.network)
            complain('The network cannot be run', error);
    }
}

function show({ output, shape }, data) {
    const [channels, height, width] = planeSizes(shape), only = $('channel').value, one = only !== '';
    $('channel').max = channels - 1;
    const first = one ? Math.min(Math.max(Number(only), 0), channels - 1) : 0;
    const { least, most } = drawMosaic($('mosaic'), data, shape, first, one ? 1 : channels);
    const which = `${one ? `channel ${first} of ` : ''}${channels} channel${channels > 1 ? 's' : ''}`;
    const what = `${output}: ${which} of ${width} × ${height}`;
    $('about').textContent = `${what}, ${least.toPrecision(4)} to ${most.toPrecision(4)}`;
    $('mosaic').setAttribute('aria-label', `Mosaic of ${what}`);
}

function listLayers(report, network) {
    const known = new Set();
    const nodes = report.nodes.filter(({ output }) => output && !known.has(output) && known.add(output));
    const rest = network.outputs.filter(({ name }) => !known.has(name))
        .map(({ name, shape }) => ({ output: name, op: 'output', shape }));
    layers = [...nodes, ...rest];
    const last = layers.findLast(({ output }) => network.outputs.some(({ name }) => name === output));
    fill($('layer'), layers.map(({ output, op, shape }, i) => [output, `${i + 1}. ${output} · ${op} · ${shapeText(shape)}`]));
    return last?.output;
}

// Networks are loaded with the tensor that is looked at as an output of its own.
async function open(extra) {
    const options = { backend: $('backend').value, name: model.name, ...(extra && { extraOutputs: [extra] }) };
    const network = await holder.open(model.source, options);
    if (!network)
        return;
    clock = makeClock();
    if (!extra) {
        $('layer').value = listLayers(await network.report(), network);
        $('device').textContent = await describeDevice(network);
    }
    live();
}

const isOutput = name => holder.network?.outputs.some(output => output.name === name);

async function tryTo(what, work) {
    calm();
    try {
        await work();
    } catch (error) {
        complain(what, error);
    }
}

const openModel = () => tryTo(`${model.name} cannot be loaded`, async () => {
    const layer = $('layer').value;
    await open();
    if (layers.some(({ output }) => output === layer))
        $('layer').value = layer;
    else if (layers.length > 2)
        $('layer').value = layers[1].output; // near the input there is most to see
    await chooseLayer();
});

async function chooseLayer() {
    const name = $('layer').value, i = $('layer').selectedIndex;
    $('previous').disabled = i <= 0;
    $('next').disabled = i >= layers.length - 1;
    await tryTo(`The tensor ${name} cannot be looked at`, async () => {
        if (!isOutput(name))
            await open(name);
        live();
    });
}

function step(by) {
    $('layer').selectedIndex += by;
    $('channel').value = '';
    chooseLayer();
}

// Kept in memory: it is loaded for each tensor anew.
const use = ({ name, source }) => tryTo(`${name} cannot be downloaded`, async () => {
    if (source instanceof URL) {
        const response = await fetch(source);
        if (!response.ok)
            throw new Error(`${response.status} ${response.statusText}`);
        source = await response.arrayBuffer();
    }
    model = { name, source };
    $('layer').replaceChildren();
    await openModel();
});

fill($('backend'), BACKENDS, new URLSearchParams(location.search).get('backend') ?? 'auto');
const live = makeLive(look);
const { input } = makePad({ pad: $('pad'), tools: $('tools'), examples: $('examples'), first: 'hand_cat.txt' }, live);
$('backend').addEventListener('change', openModel);
$('layer').addEventListener('change', () => { $('channel').value = ''; chooseLayer(); });
$('channel').addEventListener('input', live);
$('range').addEventListener('change', live);
$('previous').addEventListener('click', () => step(-1));
$('next').addEventListener('click', () => step(1));
const choice = makeModelChoice(use);
acceptFiles(([file]) => file && choice.take(file));
say('');
choice.start();
