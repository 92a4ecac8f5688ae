// Runs ONNX networks with TF.js, as far as operators are translated here. Tensors of 4 axes are NHWC within.
/* global tf */
import { readOnnx } from './onnx.mjs';

const ACTIVATIONS = { Relu: 'relu', LeakyRelu: 'leakyrelu', Sigmoid: 'sigmoid', Clip: 'relu6' };

const toNhwc = x => x.rank === 4 ? tf.transpose(x, [0, 2, 3, 1]) : x;
const toNchw = x => x.rank === 4 ? tf.transpose(x, [0, 3, 1, 2]) : x;
const axisOf = (axis, rank) => rank === 4 ? [0, 3, 1, 2][(axis + 4) % 4] : (axis + rank) % rank;

function padsOf({ auto_pad: auto = 'NOTSET', pads = [0, 0, 0, 0] }) {
    if (auto !== 'NOTSET' && auto !== 'VALID')
        throw new Error(`auto_pad ${auto} is not translated`);
    const [top, left, bottom, right] = pads;
    return [[0, 0], [top, bottom], [left, right], [0, 0]];
}

const padded = (x, pads, value = 0) => pads.flat().some(Boolean) ? tf.pad(x, pads, value) : x;

// { weights, bias } of a convolution, made once: HWIO, or HWIM if each channel has filters of its own.
function prepareConv({ inputs, attributes }, constant) {
    const w = constant(inputs[1]), { group = 1 } = attributes;
    const depthwise = group > 1 && w.shape[1] === 1 && group === w.shape[0];
    if (group > 1 && !depthwise)
        throw new Error('Conv with groups of several channels is not translated');
    const filter = tf.transpose(w, depthwise ? [2, 3, 0, 1] : [2, 3, 1, 0]), bias = inputs[2] && constant(inputs[2]);
    return { filter, bias, depthwise };
}

function conv(x, { attributes, prepared: { filter, bias, depthwise }, activation }) {
    const { strides = [1, 1], dilations = [1, 1] } = attributes, pads = padsOf(attributes);
    const fused = { x, filter, strides, dilations, pad: pads, bias, ...activation };
    if (!depthwise)
        return tf.fused.conv2d(fused);
    return tf.fused.depthwiseConv2d({ ...fused, x: padded(x, pads), pad: 'valid' });
}

// Without padding; then what pads would take away is cut off.
function convTranspose(x, { attributes, prepared: { filter, bias } }) {
    const { strides = [1, 1], dilations = [1, 1], group = 1, output_padding: extra = [0, 0] } = attributes;
    if (group > 1 || dilations.some(d => d > 1) || extra.some(Boolean))
        throw new Error('ConvTranspose with groups, dilations or output padding is not translated');
    const [, [top, bottom], [left, right]] = padsOf(attributes), [n, h, w] = x.shape, [kh, kw, out] = filter.shape;
    const size = [(h - 1) * strides[0] + kh - top - bottom, (w - 1) * strides[1] + kw - left - right];
    const same = top === bottom && left === right && top === left && size[0] === h * strides[0] && size[1] === w * strides[1];
    let y;
    if (same) {
        y = tf.conv2dTranspose(x, filter, [n, ...size, out], strides, 'same');
    } else {
        y = tf.conv2dTranspose(x, filter, [n, size[0] + top + bottom, size[1] + left + right, out], strides, 'valid');
        y = tf.slice(y, [0, top, left, 0], [n, ...size, out]);
    }
    return bias ? tf.add(y, bias) : y;
}

function pool(x, { attributes, op }) {
    const { kernel_shape: kernel, strides = [1, 1], ceil_mode: ceil = 0 } = attributes, pads = padsOf(attributes);
    if (ceil || (op === 'AveragePool' && pads.flat().some(Boolean)))
        throw new Error(`${op} with ceil_mode or padding is not translated`);
    return op === 'MaxPool' ? tf.maxPool(padded(x, pads, -3e38), kernel, strides, 'valid')
        : tf.avgPool(x, kernel, strides, 'valid');
}

function instanceNorm(x, scale, bias, epsilon = 1e-5) {
    const { mean, variance } = tf.moments(x, [1, 2], true);
    return tf.add(tf.mul(tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, epsilon))), scale), bias);
}

function reshape(x, shape) {
    const nchw = toNchw(x);
    return toNhwc(tf.reshape(nchw, shape.map((size, i) => size === 0 ? nchw.shape[i] : size)));
}

function gemm(a, b, c, { alpha = 1, beta = 1, transA = 0, transB = 0 }) {
    const product = tf.mul(tf.matMul(a, b, !!transA, !!transB), alpha);
    return c ? tf.add(product, tf.mul(c, beta)) : product;
}

// Per channel: [C] and [1, C, 1, 1] fit NHWC's last axis.
const binary = fn => ([a, b]) => fn(a, b);
const OPS = {
    Conv: ([x], node) => conv(x, node),
    ConvTranspose: ([x], node) => convTranspose(x, node),
    MaxPool: ([x], node) => pool(x, node),
    AveragePool: ([x], node) => pool(x, node),
    GlobalAveragePool: ([x]) => tf.mean(x, [1, 2], true),
    BatchNormalization: ([x, scale, bias, mean, variance], { attributes }) =>
        tf.batchNorm(x, mean, variance, bias, scale, attributes.epsilon ?? 1e-5),
    InstanceNormalization: ([x, scale, bias], { attributes }) => instanceNorm(x, scale, bias, attributes.epsilon),
    Relu: ([x]) => tf.relu(x),
    LeakyRelu: ([x], { attributes }) => tf.leakyRelu(x, attributes.alpha ?? 0.01),
    PRelu: ([x, slope]) => tf.prelu(x, slope),
    Sigmoid: ([x]) => tf.sigmoid(x),
    Tanh: ([x]) => tf.tanh(x),
    Clip: ([x], { limits: [low, high] }) => tf.clipByValue(x, low, high),
    Add: binary((a, b) => tf.add(a, b)), Sub: binary((a, b) => tf.sub(a, b)),
    Mul: binary((a, b) => tf.mul(a, b)), Div: binary((a, b) => tf.div(a, b)),
    Concat: (list, { attributes }) => tf.concat(list, axisOf(attributes.axis, list[0].rank)),
    Softmax: ([x], { attributes }) => tf.softmax(x, axisOf(attributes.axis ?? -1, x.rank)),
    Reshape: ([x], { to }) => reshape(x, to),
    Flatten: ([x]) => reshape(x, [x.shape[0], -1]),
    MatMul: binary((a, b) => tf.matMul(a, b)),
    Gemm: ([a, b, c], { attributes }) => gemm(a, b, c, attributes),
    Identity: ([x]) => x,
    Dropout: ([x]) => x,
};

// Values of constants, whose Casts and Constants need no tensors.
function findConstants({ weights, nodes }) {
    const values = new Map(weights);
    for (const { op, inputs, outputs, attributes } of nodes) {
        if (op === 'Constant' && attributes.value)
            values.set(outputs[0], attributes.value);
        if ((op === 'Cast' || op === 'Identity') && values.has(inputs[0]))
            values.set(outputs[0], values.get(inputs[0]));
    }
    return values;
}

function limitsOf({ inputs, attributes }, values) {
    const at = i => inputs[i] ? values.get(inputs[i]).data[0] : undefined;
    return [attributes.min ?? at(1) ?? -3.4e38, attributes.max ?? at(2) ?? 3.4e38];
}

// Joins an activation to the convolution before it, if nothing else reads that.
function fuse(nodes, outputs) {
    const readers = name => nodes.filter(({ inputs }) => inputs.includes(name));
    for (const node of nodes.filter(({ op }) => op === 'Conv')) {
        const next = readers(node.outputs[0]), [{ op, attributes, limits } = {}] = next;
        const six = op !== 'Clip' || (limits[0] === 0 && limits[1] === 6);
        if (next.length !== 1 || !ACTIVATIONS[op] || !six || outputs.some(({ name }) => name === node.outputs[0]))
            continue;
        node.activation = { activation: ACTIVATIONS[op], leakyreluAlpha: attributes.alpha ?? 0.01 };
        node.outputs = next[0].outputs;
        nodes.splice(nodes.indexOf(next[0]), 1);
    }
}

/** A function from { name: tensor in ONNX's layout } to an array of such tensors. */
export function translate(buffer) {
    const graph = readOnnx(buffer), values = findConstants(graph), tensors = new Map();
    const constant = name => {
        if (!values.has(name))
            throw new Error(`${name}: weights that are computed are not translated`);
        const { data, shape } = values.get(name);
        return tf.tensor(data, shape);
    };
    const nodes = graph.nodes.filter(({ outputs }) => !values.has(outputs[0]));
    for (const node of nodes) {
        if (!OPS[node.op])
            throw new Error(`operator ${node.op} is not translated for TF.js by this page`);
        if (node.op === 'Conv' || node.op === 'ConvTranspose')
            node.prepared = prepareConv({ ...node, attributes: node.op === 'Conv' ? node.attributes : {} }, constant);
        if (node.op === 'Clip')
            node.limits = limitsOf(node, values);
        if (node.op === 'Reshape')
            node.to = [...values.get(node.inputs[1]).data];
        node.reads = node.prepared || node.limits || node.to ? node.inputs.slice(0, 1) : node.inputs;
        for (const name of node.reads)
            if (values.has(name) && !tensors.has(name))
                tensors.set(name, toNhwc(constant(name)));
    }
    fuse(nodes, graph.outputs);
    return feeds => {
        const known = new Map(tensors);
        Object.entries(feeds).forEach(([name, x]) => known.set(name, toNhwc(x)));
        for (const node of nodes)
            known.set(node.outputs[0], OPS[node.op](node.reads.map(name => known.get(name)), node));
        return graph.outputs.map(({ name }) => toNchw(known.get(name)));
    };
}
