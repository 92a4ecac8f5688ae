// A GPUDevice that multiplies matrices of 16 bits in ordinary WGSL, with sums of 32: no driver of the tests' machines has matrix
// units. It says that it has what kernels need for them (src/web/gpu.mjs) and rewrites the programs that use it.
const CONFIG = { componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 };
const FEATURES = ['shader-f16', 'chromium-experimental-subgroup-matrix'];
// Two numbers of 16 bits lie in 32. A factor is the index of its array in workgroup memory, where it begins there, and its rows'
// length; a sum is 8 elements of each of 32 invocations.
const FUNCTIONS = `
fn emulated_write(word: u32, at: i32, v: f32) -> u32 {
    let half = pack2x16float(vec2f(v, 0)) & 0xffff;
    return select((word & 0xffff0000) | half, (word & 0xffff) | (half << 16), (at & 1) == 1);
}
fn emulated_multiply(a: vec3u, w: vec3u, sum: array<f32, 8>, lane: i32) -> array<f32, 8> {
    var sums = sum;
    for (var i = 0u; i < 8; i++) {
        let e = u32(lane % 32) * 8 + i;
        for (var k = 0u; k < 16; k++) {
            let left = a.y + e / 16 * a.z + k;
            let right = w.y + k * w.z + e % 16;
            sums[i] += unpack2x16float(left_shared[a.x][left / 2])[left & 1] *
                       unpack2x16float(right_shared[w.x][right / 2])[right & 1];
        }
    }
    return sums;
}
fn emulated_store(subgroup: i32, at: u32, row: u32, sum: array<f32, 8>, lane: i32) {
    for (var i = 0u; i < 8; i++) {
        let e = u32(lane % 32) * 8 + i;
        sum_shared[subgroup][at + e / 16 * row + e % 16] = sum[i];
    }
}
`;

/** Is it more than what src/web/gpu.mjs tries? */
export const isKernel = code => code.includes('sum_shared');

/** The program for a device without matrix units. */
function rewrite(code) {
    const expressions = [
        [/^(enable|diagnostic)\b.*;$/gm, ''],
        [/array<\s*f16\s*,([^>]*)>/g, 'array<u32, ($1) / 2>'],
        [/(\w+_shared\[[^\]]*\])\[([^\]]*)\]\s*=\s*([^;]*);/g, '$1[($2) / 2] = emulated_write($1[($2) / 2], $2, $3);'],
        [/bitcast<\s*vec4h\s*>\(([^;]*)\);/g, 'vec4f(unpack2x16float($1.x), unpack2x16float($1.y));'],
        [/subgroup_matrix_result<[^>]*>/g, 'array<f32, 8>'],
        [/subgroupMatrixLoad<subgroup_matrix_(\w+)<[^>]*>\s*,\s*row_major\s*>\(\s*&\1_shared\[(\w+)\],\s*([^;]*),\s*([^;]*)\);/g,
            'vec3u(u32($2), $3, $4);'],
        [/subgroupMatrixMultiplyAccumulate\(([^;]*)\);/g, 'emulated_multiply($1, lane);'],
        [/subgroupMatrixStore<\s*row_major\s*>\(\s*&sum_shared\[(\w+)\],\s*([^;]*),\s*(\w+),\s*([^;]*)\);/g,
            'emulated_store($1, $2, $4, $3, lane);'],
    ];
    return expressions.reduce((text, [from, to]) => text.replace(from, to), code) + FUNCTIONS;
}

/** device, with matrix units; onProgram(code): is called with each program that uses them. */
export function withSubgroupMatrix(device, onProgram) {
    const own = {
        features: new Set([...device.features, ...FEATURES]),
        adapterInfo: { description: 'matrix units', // no software: kernels for GPUs are chosen
            subgroupMinSize: 32, subgroupMaxSize: 32, subgroupMatrixConfigs: [CONFIG] },
        createShaderModule(descriptor) {
            const { code } = descriptor, uses = code.includes('subgroupMatrix');
            if (uses)
                onProgram(code);
            const emulated = uses && isKernel(code) ? rewrite(code) : ''; // of the others nothing is run
            return device.createShaderModule(uses ? { ...descriptor, code: emulated } : descriptor);
        },
    };
    return new Proxy(device, {
        get(target, key) {
            const value = key in own ? own[key] : target[key];
            return typeof value === 'function' && !(key in own) ? value.bind(target) : value;
        },
    });
}
