// Files of NumPy's, in node and in pages.

/** The floats of a file's bytes. */
export function readNpy(file) {
    const bytes = new Uint8Array(file), start = 10 + new DataView(bytes.buffer).getUint16(8, true);
    const header = new TextDecoder().decode(bytes.subarray(0, start));
    if (!/^.NUMPY[^]*'<f4', 'fortran_order': False/.test(header))
        throw new Error(`no file of floats in NumPy's format: ${header}`);
    return new Float32Array(bytes.buffer.slice(start));
}

/** A file of floats, in node. */
export function writeNpy(shape, elements) {
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`.padEnd(117) + '\n';
    const length = Buffer.from([1, 0, header.length, 0]);
    return Buffer.concat([Buffer.from('\x93NUMPY', 'latin1'), length, Buffer.from(header), Buffer.from(elements.buffer)]);
}
