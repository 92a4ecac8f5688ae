// ONNX's own tests of operators, as `tessera check` runs them, in node and in pages: model.onnx, and beside it
// test_data_set_0/input_0.pb.., output_0.pb..
import { fieldsOf, withConstants } from './onnx_model.mjs';

const RTOL = 1e-3, ATOL = 1e-5; // as `tessera check` has them; integers have to be equal

function* varintsOf(bytes) {
    for (let at = 0; at < bytes.length;) {
        let end = at;
        while (bytes[end] > 127)
            end++;
        yield bytes.subarray(at, ++end).reduceRight((value, byte) => value << 7n | BigInt(byte & 127), 0n);
        at = end;
    }
}

const textOf = bytes => new TextDecoder().decode(bytes);

// By the number of a TensorProto's data_type: bytes of an element, how raw_data stores it, how a varint becomes that, what that
// stands for.
const int = bits => value => Number(BigInt.asIntN(bits, value)), uint = bits => value => Number(BigInt.asUintN(bits, value));
const half = bits => {
    const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent === 31)
        return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
};
const TYPES = {
    1: [4, 'getFloat32'], 2: [1, 'getUint8', uint(8)], 3: [1, 'getInt8', int(8)], 4: [2, 'getUint16', uint(16)],
    5: [2, 'getInt16', int(16)], 6: [4, 'getInt32', int(32)], 7: [8, 'getBigInt64', int(64)], 9: [1, 'getUint8', uint(8)],
    10: [2, 'getUint16', uint(16), half], 11: [8, 'getFloat64'], 12: [4, 'getUint32', uint(32)],
    13: [8, 'getBigUint64', uint(64)],
};
const DIMS = 1, DATA_TYPE = 2, FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, RAW_DATA = 9, DOUBLE_DATA = 10, UINT64_DATA = 11;

function readTensor(bytes) {
    const dims = [], data = [], integers = value => (typeof value === 'bigint' ? [value] : [...varintsOf(value)]);
    let type;
    for (const [field, value] of fieldsOf(bytes)) {
        if (field === DIMS)
            dims.push(...integers(value).map(Number));
        else if (field === DATA_TYPE)
            type = TYPES[Number(value)] ?? null;
        else if ([FLOAT_DATA, INT32_DATA, INT64_DATA, RAW_DATA, DOUBLE_DATA, UINT64_DATA].includes(field))
            data.push([field, value]); // the type may come later
    }
    if (!type)
        throw new Error('a tensor of a type that is not read here');
    const [size, get, convert, decode = Number] = type;
    const elements = data.flatMap(([field, value]) => {
        if (field !== RAW_DATA && field !== FLOAT_DATA && field !== DOUBLE_DATA)
            return integers(value).map(number => decode(convert(number)));
        const view = new DataView(value.buffer, value.byteOffset, value.length);
        return Array.from({ length: value.length / size }, (_, i) => decode(view[get](i * size, true)));
    });
    return { dims, data: Float32Array.from(elements) };
}

const MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, VALUE_NAME = 1, TENSOR_NAME = 8;

// Names of the inputs that have no constant.
function inputsOf(model) {
    const named = (bytes, field) => textOf([...fieldsOf(bytes)].find(([number]) => number === field)[1]);
    const graph = [...fieldsOf(model)].filter(([field]) => field === MODEL_GRAPH).flatMap(([, bytes]) => [...fieldsOf(bytes)]);
    const all = (field, name) => graph.filter(([number]) => number === field).map(([, bytes]) => named(bytes, name));
    const constants = all(GRAPH_INITIALIZER, TENSOR_NAME);
    return all(GRAPH_INPUT, VALUE_NAME).filter(name => !constants.includes(name));
}

// What is wrong with an output, or ''.
function differs({ name, shape, dtype }, found, expected) {
    if (shape.join() !== expected.dims.join())
        return `output '${name}' is [${shape}] instead of [${expected.dims}]`;
    const [rtol, atol] = /^(u?int|bool)/.test(dtype) ? [0, 0] : [RTOL, ATOL];
    const same = (a, b) => Object.is(a, b) || a === b || (Number.isFinite(b) && Math.abs(a - b) <= atol + rtol * Math.abs(b));
    const at = expected.data.findIndex((b, i) => !same(found[i], b));
    return at < 0 ? '' : `output '${name}': ${found[at]} instead of ${expected.data[at]} at ${at}`;
}

async function checkSet(load, backend, model, names, inputs, outputs, constants) {
    const fixed = Object.fromEntries(constants.map(i => [names[i], inputs[i]]));
    const feeds = names.flatMap((name, i) => (constants.includes(i) ? [] : [[name, readTensor(inputs[i])]]));
    const network = await load(constants.length ? withConstants(model, fixed) : model, {
        backend, shapes: Object.fromEntries(feeds.map(([name, { dims }]) => [name, dims])),
    });
    try {
        const found = await network.run(Object.fromEntries(feeds.map(([name, { data }]) => [name, data])));
        const faults = network.outputs.map((output, i) => differs(output, found[output.name], readTensor(outputs[i])));
        return faults.find(Boolean) ?? '';
    } finally {
        network.dispose();
    }
}

// Weights, pads and the like have to be constants. Which ones an operator has is not known here: where the library misses some,
// all inputs but the first are made so, or all.
async function checkSetEitherWay(load, backend, model, names, inputs, outputs) {
    const all = names.map((_, i) => i);
    for (const constants of [[], all.slice(1), all])
        try {
            return { why: await checkSet(load, backend, model, names, inputs, outputs, constants), constants: constants.length > 0 };
        } catch (error) {
            const lacks = error.status === 'UNSUPPORTED' && /known only at run time|is not constant|of integers a GPU computes/.test(error.message);
            if (!lacks || constants.length === all.length)
                throw error;
        }
}

/** Networks of the default module and of the one of that URL, while which stay all others share their two devices. */
export const keepDevices = async (load, backend, read, url) => {
    const model = await read('node/test_relu/model.onnx');
    return Promise.all([undefined, url].map(wasm => load(model, { backend, wasm })));
};

/**
 * Runs a test: { folder, sets: [{ inputs, outputs }] }, the numbers of files. read(path) gives a file's bytes.
 * { result: 'PASS', 'FAIL' or, where the backend refuses the model, 'SKIP'; why; constants: were inputs made constants? }
 */
export async function runTest(load, backend, read, { folder, sets }) {
    const files = (set, kind, count) => Promise.all(Array.from({ length: count }, (_, i) =>
        read(`${folder}/test_data_set_${set}/${kind}_${i}.pb`)));
    try {
        const model = await read(`${folder}/model.onnx`), names = inputsOf(model);
        let constants = false;
        for (const [i, set] of sets.entries()) {
            const made = await checkSetEitherWay(load, backend, model, names, await files(i, 'input', set.inputs),
                await files(i, 'output', set.outputs));
            constants ||= Boolean(made.constants);
            if (made.why)
                return { result: 'FAIL', why: made.why, constants };
        }
        return { result: 'PASS', why: '', constants };
    } catch (error) {
        return { result: error.status === 'UNSUPPORTED' ? 'SKIP' : 'FAIL', why: error.message, constants: false };
    }
}
