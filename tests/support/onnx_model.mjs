// Models in ONNX's protobuf, in node and in pages.
export const varint = n => (n < 128 ? [n] : [n % 128 + 128, ...varint(Math.floor(n / 128))]);
export const int = (field, n) => [...varint(field * 8), ...varint(n)];
export const bytes = (field, content) => [...varint(field * 8 + 2), ...varint(content.length), ...content];
export const string = (field, text) => bytes(field, new TextEncoder().encode(text));
const dimension = size => bytes(1, typeof size === 'string' ? string(2, size) : int(1, size));
const value = (field, name, shape) =>
    bytes(field, [...string(1, name), ...bytes(2, bytes(1, [...int(1, 1), ...bytes(2, shape.flatMap(dimension))]))]);

/** The fields of a message in protobuf's format, as [number, value]: a BigInt, or the bytes of anything longer. */
export function* fieldsOf(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    const varint = () => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128)
                return value;
        }
    };
    const take = size => bytes.subarray(at, at += size);
    while (at < view.byteLength) {
        const key = Number(varint()), kind = key & 7;
        yield [key >>> 3, kind === 0 ? varint() : take(kind === 1 ? 8 : kind === 5 ? 4 : Number(varint()))];
    }
}

/** A model with an input x and an output y of floats; nodes: [operator, input, [output...]]. */
export function model(shape, nodes) {
    const graph = [...nodes.flatMap(([op, from, to]) =>
        bytes(1, [...string(1, from), ...to.flatMap(name => string(2, name)), ...string(4, op)])),
    ...string(2, 'g'), ...value(11, 'x', shape), ...value(12, 'y', shape)];
    return new Uint8Array([...int(1, 7), ...bytes(8, int(2, 13)), ...bytes(7, graph)]);
}

/** One of nodes of one input and one output each. */
export function chain(shape, ops) {
    const name = i => (i === 0 ? 'x' : i === ops.length ? 'y' : `t${i}`);
    return model(shape, ops.map((op, i) => [op, name(i), [name(i + 1)]]));
}

/** A model with these tensors ({ name: bytes of a TensorProto }) as constants: parts of a message may follow one another. */
export function withConstants(bytesOfModel, tensors) {
    const constants = Object.entries(tensors).flatMap(([name, tensor]) => bytes(5, [...tensor, ...string(8, name)]));
    return new Uint8Array([...bytesOfModel, ...bytes(7, constants)]);
}
