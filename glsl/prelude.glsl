// The head of every program. A tensor T (the output O, each input by its name) has the parameters
//     u.T_size                      N, C, H, W; also u.T_N, u.T_C, u.T_H, u.T_W
//     u.T_tiles                     tiles of an image
//     u.T_tile_width                columns of a tile in a plane
//     u.T_columns_log2              log2 of the tiles in a row of the texture's grid
//     u.T_begin                     its offset in the texture, which it may share with other tensors
//     u.T_first_tiles               of an input with T_FIRST: its tiles that are stored as with this pixel stride
//     u.T_zero_row                  of an input: the texture's last row, which is zero
//     u.T_inverse                   of an input: 1 / the texture's columns, 1 / its rows; O: 1 / columns of a tile, 1 / H
// T_TEXEL says how its texels are stored: 0 floats, 1 the bits of floats, 2 integers of 8 bits, 3 with signs.
precision highp float;
precision highp sampler2D;
precision highp sampler2DArray;

// The parameters. llvmpipe gathers a uniform's value lane by lane wherever it is read, in loops again and again: there
// main() copies all of them first, and the compiler drops those that nothing reads. SwiftShader compiles copies for longer.
#if UNIFORMS
ivec4 tsr_i[${UNIFORMS}];
#else
#define tsr_i tsr_uniforms
#endif

// What a fragment computes: the pixels of all planes, x, x + PIXEL_STRIDE, ...; then, of a pass that writes more tensors, those of
// each of these, whose kernel sets tsr_more0, ... beside its result. Such a pass has PLANES of O_PLANES planes in a draw.
#for j TARGETS
vec4 v$j;
#endfor
#for i MORE
vec4 tsr_more$i;
#endfor
ivec3 o_texel; // the one being computed: column, row (from u.O_begin on), plane

// Keeps NaN, on drivers that support it. max() and similar functions lose it, exp() does on some drivers, and drivers may
// replace a select between both sides of a comparison by max().
vec4 tsr_keep_nan(vec4 v, vec4 result) { return mix(result, v, isnan(v)); }
// Does v replace the largest element so far? NaN does, and is kept.
bvec4 tsr_larger(vec4 v, vec4 best) { return bvec4(uvec4(greaterThan(v, best)) | uvec4(isnan(v))); }

#if ROUNDED
// The nearest 16-bit float, of two the even one, infinity from 65520 on. NaN stays; what is below 2^-14 keeps more bits than
// are stored.
vec4 tsr_round_half(vec4 v) {
    uvec4 bits = floatBitsToUint(v), even = bits >> 13 & 1u;
    vec4 rounded = uintBitsToFloat((bits + 0xfffu + even) & 0xffffe000u);
    return tsr_keep_nan(v, mix(rounded, uintBitsToFloat(bits & 0x80000000u | 0x7f800000u), greaterThan(abs(rounded), vec4(65504.0))));
}
#endif

#if HALF_ONLY
// v as a GPU that renders to 16-bit floats only stores it: v - tsr_half(v) is what that loses.
vec4 tsr_half(vec4 v) { return vec4(unpackHalf2x16(packHalf2x16(v.xy)), unpackHalf2x16(packHalf2x16(v.zw))); }
#endif

// Integer division, exact for a < 2^22: the quotient's error stays below half of 1/b.
int tsr_divide(int a, float inverse) { return int(floor((float(a) + 0.5) * inverse)); }
// The same for any a >= 0: the first quotient is off by at most a / b * 2^-21, the second by 1. Drivers divide integers one
// by one, or in some 40 instructions.
int tsr_quotient(int a, int b) {
    float inverse = 1.0 / float(b);
    int q = int(float(a) * inverse);
    q += int(floor(float(a - q * b) * inverse));
    int rest = a - q * b;
    return rest < 0 ? q - 1 : rest >= b ? q + 1 : q;
}
ivec2 tsr_quotient(ivec2 a, ivec2 b) { return ivec2(tsr_quotient(a.x, b.x), tsr_quotient(a.y, b.y)); }

#if TABLE
// A pass's lookup table or packed weights.
#if TABLE_OF_4
uniform highp usampler2D table; // each component is a texel of the table: four integers of 8 or, TABLE_NIBBLES, 4 bits
#elif TABLE_INTEGERS
uniform highp isampler2D table;
#elif TABLE_BITS
uniform highp usampler2D table; // of floats, which a GPU that does not render to them computed
#else
uniform sampler2D table;
#endif

// Texels are read at integer coordinates: by texelFetch, or, with SAMPLE, from the texture without filtering at the
// texel's centre, which is 1.5 times as fast on llvmpipe (where texelFetch is a function call), 1.15 times slower on a GPU,
// and as exact: the error of a coordinate is below 0.01 texels. With an explicit level of detail, which is valid in any
// control flow.
// The address of a texel of the table, and the texel i columns after an address. The address of group x of a row, four
// texels each, and texel c of the group i after it: kernels so read weights of four input channels.
#if SAMPLE
#define TABLE_AT vec2
vec2 table_at(int x, int y) { return (vec2(x, y) + 0.5) * u.table_inverse; }
#define TABLE_READ(at, i) textureLod(table, vec2((at).x + float(i) * u.table_inverse.x, (at).y), 0.0)
#else
#define TABLE_AT ivec2
ivec2 table_at(int x, int y) { return ivec2(x, y); }
#define TABLE_READ(at, i) texelFetch(table, ivec2((at).x + (i), (at).y), 0)
#endif
#if TABLE_OF_4
#if TABLE_NIBBLES
vec4 table_integers(uint bits) { return vec4(ivec4(uvec4(bits) << uvec4(28, 24, 20, 16)) >> 28); }
#else
vec4 table_integers(uint bits) { return vec4(ivec4(uvec4(bits) << uvec4(24, 16, 8, 0)) >> 24); }
#endif
TABLE_AT weights_begin(int x, int y) { return table_at(x, y); }
vec4 channel_weights(TABLE_AT at, int i, int c) { return table_integers(TABLE_READ(at, i)[c]); }
#else
#if TABLE_BITS
vec4 table_texel(TABLE_AT at, int i) { return uintBitsToFloat(TABLE_READ(at, i)); }
#else
vec4 table_texel(TABLE_AT at, int i) { return vec4(TABLE_READ(at, i)); }
#endif
TABLE_AT weights_begin(int x, int y) { return table_at(4 * x, y); }
vec4 channel_weights(TABLE_AT at, int i, int c) { return table_texel(at, 4 * i + c); }
#endif
#endif
