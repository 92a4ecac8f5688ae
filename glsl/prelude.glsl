// The head of every program. A tensor T (the output O, each input by its name) has the parameters
//     u.T_size                      N, C, H, W; also u.T_N, u.T_C, u.T_H, u.T_W
//     u.T_tiles                     tiles of an image
//     u.T_tile_width                columns of a tile in a plane
//     u.T_columns_log2              log2 of the tiles in a row of the texture's grid
//     u.T_begin                     its first texel in the texture: others may be beside it
//     u.T_inverse                   of an input: 1 / the texture's columns, 1 / its rows; O: 1 / columns of a tile, 1 / H
precision highp float;
precision highp sampler2D;
precision highp sampler2DArray;

// What a fragment computes: the pixels of all planes, x, x + PIXEL_STRIDE, ...
#for j PLANES
vec4 v$j;
#endfor
ivec3 o_texel; // the one being computed: column, row (from u.O_begin on), plane

// NaN stays NaN, on drivers that have it. max() and its like lose it, exp() on some, and drivers make max() of a
// comparison that selects one of its sides.
vec4 tsr_keep_nan(vec4 v, vec4 result) { return mix(result, v, isnan(v)); }
// Does v take the place of the largest element so far? NaN does, and stays.
bvec4 tsr_larger(vec4 v, vec4 best) { return bvec4(uvec4(greaterThan(v, best)) | uvec4(isnan(v))); }

// Integer division, exact for a < 2^22: the quotient's error stays below half of 1/b.
int tsr_divide(int a, float inverse) { return int(floor((float(a) + 0.5) * inverse)); }

#if TABLE
// A pass's lookup table or packed weights.
uniform sampler2D table;

// Texels are read at integer coordinates: by texelFetch, or, with SAMPLE, from the texture without filtering at the
// texel's middle, which is half again as fast on llvmpipe (it calls a function for texelFetch), a seventh slower on a GPU,
// and as exact: a coordinate is off by less than a hundredth of a texel. With a level of detail, so that it may stand in
// any control flow.
// Where a texel of the table is, and the texel i columns after one.
#if SAMPLE
#define TABLE_AT vec2
vec2 table_at(int x, int y) { return (vec2(x, y) + 0.5) * u.table_inverse; }
vec4 table_texel(vec2 at, int i) { return textureLod(table, vec2(at.x + float(i) * u.table_inverse.x, at.y), 0.0); }
#else
#define TABLE_AT ivec2
ivec2 table_at(int x, int y) { return ivec2(x, y); }
vec4 table_texel(ivec2 at, int i) { return texelFetch(table, ivec2(at.x + i, at.y), 0); }
#endif
#endif
