// Custom operators whose functions are JavaScript's: see LoadOptions.customOps.
import { fail } from './module.mjs';

const operators = new Map(); // by the number that the library knows them by
let last = 0;

const MAX_RANK = 8;

const isName = value => typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value);

function check({ name, inputs = 1, shape, compute, attributes = {} }) {
    const [least, most] = [inputs].flat().length === 2 ? inputs : [inputs, inputs];
    if (!isName(name) || typeof compute !== 'function' || (shape !== undefined && typeof shape !== 'function'))
        fail('INVALID_ARGUMENT', 'a custom operator has a name, a function compute and, if its shape is not that of its first input, a function shape');
    if (!Object.values(attributes).every(Number.isFinite))
        fail('INVALID_ARGUMENT', `${name}: values of attributes are numbers`);
    return [least, most];
}

/** Calls fn() with the operators known to the model that it reads; the numbers that release() takes. */
export function withOperators(wasm, customOps, fn) {
    const numbers = [];
    const add = i => {
        if (i === customOps.length)
            return fn();
        const op = customOps[i], [least, most] = check(op), { name, domain = '', glsl = '', wgsl = '', attributes = {}, shape } = op;
        const texts = [name, domain, glsl, wgsl, ...Object.keys(attributes)].map(text => `${text}\0`).join('');
        operators.set(++last, { op, wasm });
        numbers.push(last);
        const counts = Int32Array.of(last, least, most, Number(shape !== undefined), Object.keys(attributes).length);
        return wasm.spell(texts, t => wasm.lend(counts, c => wasm.lend(Float32Array.from(Object.values(attributes)), v => {
            if (!wasm.call('tsr_web_add_operator', t, c, v))
                fail('OUT_OF_MEMORY', 'no memory for custom operators');
            return add(i + 1);
        })));
    };
    try {
        return { model: add(0), numbers };
    } catch (error) {
        release(numbers);
        throw error;
    } finally {
        if (!wasm.isBroken())
            wasm.call('tsr_web_clear_operators');
    }
}

/** When no session of the model is left. */
export function release(numbers) {
    numbers.forEach(number => operators.delete(number));
}

function describe(wasm, call, i) {
    const dims = Array.from({ length: wasm.call('tsr_web_call_rank', call, i) }, (_, axis) => wasm.call('tsr_web_call_dim', call, i, axis));
    const at = wasm.call('tsr_web_call_elements', call, i) >>> 0, count = dims.reduce((product, size) => product * size, 1);
    return { dims, data: at ? new Float32Array(wasm.bytes().buffer, at, count) : null };
}

/** See tsr_web_call_operator(). */
export function callOperator(number, computes, call) {
    const { op, wasm } = operators.get(number);
    try {
        const inputs = Array.from({ length: wasm.call('tsr_web_call_inputs', call) }, (_, i) => describe(wasm, call, i));
        const attributes = Object.fromEntries(Object.entries(op.attributes ?? {}).map(([name, value]) =>
            [name, wasm.spell(name, n => wasm.call('tsr_web_call_attribute', call, n, value))]));
        if (computes) {
            if (op.compute(inputs.map((_, i) => describe(wasm, call, i)), describe(wasm, call, -1), attributes)?.then)
                throw new Error('compute returns a promise: nothing waits for it');
            return 1;
        }
        const dims = op.shape(inputs.map(input => input.dims), attributes);
        if (!Array.isArray(dims) || dims.length > MAX_RANK || !dims.every(size => Number.isInteger(size) && size >= 0 && size < 2 ** 31))
            throw new Error(`its shape is ${JSON.stringify(dims)}`);
        wasm.lend(Int32Array.from(dims), at => wasm.call('tsr_web_call_set_shape', call, dims.length, at));
        return 1;
    } catch (error) {
        wasm.spell(`${op.name}: ${error?.message ?? error}`, at => wasm.call('tsr_web_call_fail', at));
        return 0;
    }
}
