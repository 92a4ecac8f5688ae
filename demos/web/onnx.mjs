// Reads ONNX files: the graph, its inputs and its weights, as far as the bench page needs them.

const decoder = new TextDecoder();

// The fields of a protobuf message: { number: [values] }, of numbers, or of bytes where they have a length.
function readMessage(bytes) {
    const fields = {}, view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    const varint = () => {
        let value = 0n, shift = 0n, byte;
        do {
            byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            shift += 7n;
        } while (byte & 128);
        return Number(BigInt.asIntN(64, value));
    };
    const read = {
        0: varint,
        1: () => view.getFloat64((at += 8) - 8, true),
        2: () => {
            const length = varint();
            at += length;
            return bytes.subarray(at - length, at);
        },
        5: () => view.getFloat32((at += 4) - 4, true),
    };
    while (at < bytes.length) {
        const tag = varint();
        if (!read[tag & 7])
            throw new Error('this is no ONNX file');
        (fields[tag >>> 3] ??= []).push(read[tag & 7]());
    }
    return fields;
}

const text = bytes => bytes ? decoder.decode(bytes) : '';

// Repeated integers are packed into bytes, or not.
function integers(values = []) {
    return values.flatMap(value => {
        if (typeof value === 'number')
            return value;
        const list = [];
        for (let at = 0; at < value.length;) {
            let end = at;
            while (value[end] & 128)
                end++;
            list.push(readMessage(Uint8Array.of(8, ...value.subarray(at, end + 1)))[1][0]); // as field 1
            at = end + 1;
        }
        return list;
    });
}

function floats(values = []) {
    return values.flatMap(value => typeof value === 'number' ? value : [...new Float32Array(value.slice().buffer)]);
}

function halfToFloat(half) {
    const exponent = half >> 10 & 31, fraction = half & 1023, sign = half & 0x8000 ? -1 : 1;
    if (exponent === 31)
        return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * fraction / 1024);
}

const RAW = {
    1: bytes => new Float32Array(bytes.buffer), 6: bytes => Float32Array.from(new Int32Array(bytes.buffer)),
    7: bytes => Float32Array.from(new BigInt64Array(bytes.buffer), Number),
    10: bytes => Float32Array.from(new Uint16Array(bytes.buffer), halfToFloat),
    11: bytes => Float32Array.from(new Float64Array(bytes.buffer)),
};

// Elements are floats, whatever they are in the file.
function readTensor(bytes) {
    const fields = readMessage(bytes), type = fields[2]?.[0];
    if (fields[9] && !RAW[type])
        throw new Error(`weights of type ${type} are not read by this page`);
    const data = fields[9] ? RAW[type](fields[9][0].slice())
        : Float32Array.from([...floats(fields[4]), ...integers(fields[7] ?? fields[5])]);
    return { name: text(fields[8]?.[0]), shape: integers(fields[1]), data };
}

function readAttribute(bytes) {
    const fields = readMessage(bytes), kinds = {
        1: () => fields[2][0], 2: () => fields[3]?.[0] ?? 0, 3: () => text(fields[4]?.[0]), 4: () => readTensor(fields[5][0]),
        6: () => floats(fields[7]), 7: () => integers(fields[8]),
    };
    return [text(fields[1][0]), kinds[fields[20]?.[0]]?.()];
}

function readNode(bytes) {
    const fields = readMessage(bytes);
    return {
        op: text(fields[4]?.[0]), inputs: (fields[1] ?? []).map(text), outputs: (fields[2] ?? []).map(text),
        attributes: Object.fromEntries((fields[5] ?? []).map(readAttribute)),
    };
}

function readValue(bytes) {
    const fields = readMessage(bytes), tensor = readMessage(readMessage(fields[2][0])[1][0]);
    const dims = tensor[2] ? readMessage(tensor[2][0])[1] ?? [] : [];
    return { name: text(fields[1][0]), type: tensor[1]?.[0], shape: dims.map(dim => readMessage(dim)[1]?.[0] ?? -1) };
}

/** { opset, inputs, outputs: [{ name, type, shape }], weights: Map of { shape, data }, nodes }; -1 in shapes: open. */
export function readOnnx(buffer) {
    const model = readMessage(new Uint8Array(buffer));
    if (!model[7]?.[0]?.length)
        throw new Error('this is no ONNX file');
    const graph = readMessage(model[7][0]);
    const weights = new Map((graph[5] ?? []).map(readTensor).map(tensor => [tensor.name, tensor]));
    return {
        opset: Math.max(...(model[8] ?? []).map(bytes => readMessage(bytes)[2]?.[0] ?? 1)),
        inputs: (graph[11] ?? []).map(readValue).filter(({ name }) => !weights.has(name)),
        outputs: (graph[12] ?? []).map(readValue), weights, nodes: (graph[1] ?? []).map(readNode),
    };
}
