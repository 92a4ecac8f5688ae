// The head of every program, after the constants of src/webgpu/shader.c. A tensor is a buffer of
// texels, four channels of one pixel each: texel ((n * tiles + t) * H + y) * W + x holds channels 4t .. 4t + 3 of pixel
// (x, y) of image n. Padding channels of the last tile are zero.
// A tensor T (the output O, each input by its name) has the parameters
//     u.T_size                N, C, H, W; also u.T_N, u.T_C, u.T_H, u.T_W
//     u.T_tiles, u.T_texels   tiles of an image, texels in all
// T_TEXEL says how its texels are stored: 0 floats, 1 of 16 bits, 2 integers of 8 bits, 3 with signs.
@group(0) @binding(0) var<uniform> params: Params;

// Infinity or NaN beyond the range of 16 bits, where pack2x16float may return anything, for its other operand, too.
fn tsr_pack_half(v: vec2f) -> u32 {
    let size = bitcast<vec2u>(v) & vec2u(0x7fffffff);
    let beyond = size >= vec2u(0x477ff000); // 65520
    let bits = pack2x16float(select(v, vec2f(), beyond));
    let largest = select(vec2u(0x7c00), vec2u(0x7e00), size > vec2u(0x7f800000));
    let signs = (bitcast<vec2u>(v) >> vec2u(16)) & vec2u(0x8000);
    let halves = select(vec2u(bits & 0xffff, bits >> 16), signs | largest, beyond);
    return halves.x | (halves.y << 16);
}
#if O_BYTES
alias Stored = u32;
fn tsr_stored(v: vec4f) -> Stored { return pack4x8unorm(v); }
#elif O_TEXEL == 1
alias Stored = vec2u;
fn tsr_stored(v: vec4f) -> Stored { return vec2u(tsr_pack_half(v.xy), tsr_pack_half(v.zw)); }
#elif O_TEXEL > 1
alias Stored = u32;
fn tsr_stored(v: vec4f) -> Stored {
    let bytes = (vec4u(vec4i(v)) & vec4u(255)) << vec4u(0, 8, 16, 24);
    return bytes.x | bytes.y | bytes.z | bytes.w;
}
#else
alias Stored = vec4f;
fn tsr_stored(v: vec4f) -> Stored { return v; }
#endif
@group(0) @binding(1) var<storage, read_write> O_data: array<Stored>;
// The tensors that a pass writes beside the output; its kernel sets tsr_more0, ... beside its result.
#for m MORE
@group(0) @binding(${3 + SOURCES + m}) var<storage, read_write> more$m_data: array<Stored>;
var<private> tsr_more$m: vec4f;
#endfor

// Of numbers that are not negative: less work than for those with a sign.
fn tsr_quotient(a: i32, b: i32) -> i32 { return i32(u32(a) / u32(b)); }

// Keeps NaN, on drivers that support it: max(), exp() and similar functions may lose it. WGSL has no isnan, and compilers
// may assume v == v.
fn tsr_nan_mask(v: vec4f) -> vec4<bool> { return (bitcast<vec4u>(v) & vec4u(0x7fffffff)) > vec4u(0x7f800000); }
fn tsr_keep_nan(v: vec4f, result: vec4f) -> vec4f { return select(result, v, tsr_nan_mask(v)); }
// Does v replace the largest element so far? NaN does, and is kept.
fn tsr_larger(v: vec4f, best: vec4f) -> vec4<bool> { return (v > best) | tsr_nan_mask(v); }

// Coordinates of texel i of the output: n, t, y, x.
fn O_position(i: i32) -> vec4i {
    let row = i / u.O_W;
    let k = row / u.O_H;
    let n = k / u.O_tiles;
    return vec4i(n, k - n * u.O_tiles, row - k * u.O_H, i - row * u.O_W);
}

#if WORDS
// The caller's array or pixels.
@group(0) @binding(2) var<storage, read> table: array<u32>;
#elif TABLE
// A pass's lookup table or packed weights, row by row, u.table_width texels each.
#if TABLE_NIBBLES
@group(0) @binding(2) var<storage, read> table: array<u32>;
alias TableTexel = u32;
fn table_packed(i: i32) -> u32 { return table[i >> 1] >> u32(16 * (i & 1)); }
fn table_unpack(t: u32) -> vec4f { return vec4f(vec4i(vec4u(t) << vec4u(28, 24, 20, 16)) >> vec4u(28)); }
#elif TABLE_INTEGERS
@group(0) @binding(2) var<storage, read> table: array<i32>;
alias TableTexel = i32;
fn table_packed(i: i32) -> i32 { return table[i]; }
fn table_unpack(t: i32) -> vec4f { return vec4f((vec4i(t) << vec4u(24, 16, 8, 0)) >> vec4u(24)); }
#elif TABLE_HALVES
@group(0) @binding(2) var<storage, read> table: array<vec2u>;
alias TableTexel = vec2u;
fn table_packed(i: i32) -> vec2u { return table[i]; }
fn table_unpack(t: vec2u) -> vec4f { return vec4f(unpack2x16float(t.x), unpack2x16float(t.y)); }
#else
@group(0) @binding(2) var<storage, read> table: array<vec4f>;
alias TableTexel = vec4f;
fn table_packed(i: i32) -> vec4f { return table[i]; }
fn table_unpack(t: vec4f) -> vec4f { return t; }
#endif
fn table_texel(i: i32) -> vec4f { return table_unpack(table_packed(i)); }
#endif
