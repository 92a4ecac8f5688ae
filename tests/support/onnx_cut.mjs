// Models of quantized activations, cut at each quantized tensor, so that every layer's output can be had from given inputs.
import { bytes, fieldsOf, int, string, varint } from './onnx_model.mjs';

const MODEL_GRAPH = 7, GRAPH_NODE = 1, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12;
const NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, VALUE_NAME = 1, FLOAT = 1, UINT8 = 2;

const encode = text => new TextEncoder().encode(text), decode = text => new TextDecoder().decode(text);
const message = fields => new Uint8Array(Buffer.concat(fields.flatMap(([number, value]) => (typeof value === 'bigint' ?
    [Uint8Array.from(int(number, Number(value)))] : [Uint8Array.from([number * 8 + 2, ...varint(value.length)]), value]))));

// Fields of the graph; a model of other ones.
const graphOf = model => [...fieldsOf(model)].filter(([number]) => number === MODEL_GRAPH).flatMap(([, graph]) => [...fieldsOf(graph)]);
const withGraph = (model, graph) =>
    message([...[...fieldsOf(model)].filter(([number]) => number !== MODEL_GRAPH), [MODEL_GRAPH, message(graph)]]);

function nodesOf(graph) {
    return graph.filter(([number]) => number === GRAPH_NODE).map(([, value]) => {
        const fields = [...fieldsOf(value)], all = number => fields.filter(([n]) => n === number).map(([, text]) => decode(text));
        return { fields, op: all(NODE_OP)[0], inputs: all(NODE_INPUT), outputs: all(NODE_OUTPUT) };
    });
}

// A field of inputs or outputs: a tensor of any shape or of this one.
function value(field, name, type, shape) {
    const sizes = shape ? bytes(2, shape.flatMap(size => bytes(1, int(1, size)))) : [];
    return [field, Uint8Array.from([...string(VALUE_NAME, name), ...bytes(2, bytes(1, [...int(1, type), ...sizes]))])];
}

/** Names of the model's inputs and outputs. */
export function interfaceOf(model) {
    const named = kind => graphOf(model).filter(([number]) => number === kind)
        .map(([, info]) => decode([...fieldsOf(info)].find(([number]) => number === VALUE_NAME)[1]));
    return { inputs: named(GRAPH_INPUT), outputs: named(GRAPH_OUTPUT) };
}

/**
 * What QuantizeLinear writes, each as { name, floats, ops }: `floats` is what DequantizeLinear makes of it, `ops` are the operators
 * that compute it from other such tensors.
 */
export function quantizedTensors(model) {
    const nodes = nodesOf(graphOf(model)), producer = new Map(nodes.flatMap(node => node.outputs.map(name => [name, node])));
    const opsBefore = name => {
        const node = producer.get(name);
        return !node || node.op === 'DequantizeLinear' ? [] : [...node.inputs.flatMap(opsBefore), node.op];
    };
    return nodes.filter(({ op }) => op === 'QuantizeLinear').map(({ inputs, outputs: [name] }) => ({
        name, ops: [...new Set(opsBefore(inputs[0]))],
        floats: nodes.find(({ op, inputs: [x] }) => op === 'DequantizeLinear' && x === name).outputs[0],
    }));
}

/** The model with these tensors as outputs, too, both in bytes and in floats. */
export function withQuantizedOutputs(model, tensors) {
    return withGraph(model, [...graphOf(model), ...tensors.flatMap(({ name, floats }) =>
        [value(GRAPH_OUTPUT, name, UINT8), value(GRAPH_OUTPUT, floats, FLOAT)])]);
}

// QuantizeLinear as before, but of the input `name`.
function quantizeInput({ fields }, name) {
    const first = fields.findIndex(([number]) => number === NODE_INPUT);
    const others = fields.filter(([number], i) => i !== first && number !== NODE_OUTPUT && number !== NODE_NAME);
    return [GRAPH_NODE, message([[NODE_INPUT, encode(name)], ...others, [NODE_OUTPUT, encode(`${name}.quantized`)]])];
}

/**
 * The model with these tensors as outputs, too, cut behind them: what read the K-th of them reads an input `cut.K` instead, floats
 * that are quantized again with the same scale. shapes: of the tensors.
 */
export function cutBehind(model, tensors, shapes) {
    const graph = graphOf(model), nodes = nodesOf(graph), cuts = new Map(tensors.map(({ name }, i) => [name, `cut.${i}`]));
    const redirect = ([number, text]) =>
        [number, number === NODE_INPUT && cuts.has(decode(text)) ? encode(`${cuts.get(decode(text))}.quantized`) : text];
    return withGraph(model, [
        ...nodes.filter(({ op }) => op === 'QuantizeLinear').map(node => quantizeInput(node, cuts.get(node.outputs[0]))),
        ...nodes.map(({ fields }) => [GRAPH_NODE, message(fields.map(redirect))]),
        ...graph.filter(([number]) => number !== GRAPH_NODE),
        ...tensors.flatMap(({ name }, i) =>
            [value(GRAPH_INPUT, `cut.${i}`, FLOAT, shapes[i]), value(GRAPH_OUTPUT, name, UINT8, shapes[i])]),
    ]);
}
