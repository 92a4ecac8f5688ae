// The head of every program, behind the constants and the struct Params of src/webgpu/shader.c. A tensor is a buffer of
// texels, four channels of one pixel each: texel ((n * tiles + t) * H + y) * W + x holds channels 4t .. 4t + 3 of pixel
// (x, y) of image n. Padding channels of the last tile are zero.
//     u.T_size     N, C, H, W                          of the output O and of each source A, B, ...
//     u.T_grid     tiles per image, texels in all
@group(0) @binding(0) var<uniform> u: Params;

#if O_HALF
@group(0) @binding(1) var<storage, read_write> O_data: array<vec2u>;
fn O_store(i: i32, v: vec4f) { O_data[i] = vec2u(pack2x16float(v.xy), pack2x16float(v.zw)); }
#else
@group(0) @binding(1) var<storage, read_write> O_data: array<vec4f>;
fn O_store(i: i32, v: vec4f) { O_data[i] = v; }
#endif

// NaN shall stay NaN, on drivers that have it. max(), exp() and their like lose it. WGSL has no isnan, and compilers may
// take it that v == v.
fn tsr_is_nan(v: vec4f) -> vec4<bool> { return (bitcast<vec4u>(v) & vec4u(0x7fffffff)) > vec4u(0x7f800000); }
fn tsr_keep_nan(v: vec4f, result: vec4f) -> vec4f { return select(result, v, tsr_is_nan(v)); }
// Does v take the place of the largest element so far? NaN does, and stays.
fn tsr_larger(v: vec4f, best: vec4f) -> vec4<bool> { return (v > best) | tsr_is_nan(v); }

// Where texel i of the output lies: n, t, y, x.
fn O_position(i: i32) -> vec4i {
    let row = i / u.O_size.w;
    let k = row / u.O_size.z;
    let n = k / u.O_grid.x;
    return vec4i(n, k - n * u.O_grid.x, row - k * u.O_size.z, i - row * u.O_size.w);
}

#if TABLE
// A pass's table of weights, row by row, u.table_size.x texels each.
@group(0) @binding(2) var<storage, read> table: array<vec4f>;
#endif
