// Files of NumPy's, in node and in pages.

const startOf = bytes => 10 + new DataView(bytes.buffer).getUint16(8, true);
const headerOf = bytes => new TextDecoder().decode(bytes.subarray(0, startOf(bytes)));

/** The sizes of what is in a file's bytes. */
export const shapeOfNpy = file => /'shape': \(([^)]*)\)/.exec(headerOf(new Uint8Array(file)))[1].match(/\d+/g)?.map(Number) ?? [];

/** The floats or bytes in a file's bytes. */
export function readNpy(file) {
    const bytes = new Uint8Array(file), header = headerOf(bytes);
    const [, type] = /^.NUMPY[^]*'(<f4|\|u1)', 'fortran_order': False/.exec(header) ?? [];
    if (!type)
        throw new Error(`no file of floats or bytes in NumPy's format: ${header}`);
    return new (type === '<f4' ? Float32Array : Uint8Array)(bytes.buffer.slice(startOf(bytes)));
}

/** A file of floats, in node. */
export function writeNpy(shape, elements) {
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`.padEnd(117) + '\n';
    const length = Buffer.from([1, 0, header.length, 0]);
    const raw = Buffer.from(elements.buffer, elements.byteOffset, elements.byteLength);
    return Buffer.concat([Buffer.from('\x93NUMPY', 'latin1'), length, Buffer.from(header), raw]);
}
