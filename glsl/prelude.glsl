// The head of every program, behind #version and the constants of src/gles/shader.c.
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArray;

// M(0, a) M(1, a) ... for every plane: plain text, so that arrays stay in registers on every driver.
#if PLANES == 1
#define EACH_PLANE(M, a) M(0, a)
#elif PLANES == 2
#define EACH_PLANE(M, a) M(0, a) M(1, a)
#elif PLANES == 4
#define EACH_PLANE(M, a) M(0, a) M(1, a) M(2, a) M(3, a)
#else
#define EACH_PLANE(M, a) M(0, a) M(1, a) M(2, a) M(3, a) M(4, a) M(5, a) M(6, a) M(7, a)
#endif

uniform ivec4 O_size; // of the output: N, C, H, W
uniform ivec4 O_grid; // tiles per image, columns of a tile in a plane, log2 of the grid's columns
uniform vec2 O_inverse; // 1 / columns of a tile, 1 / H
uniform ivec2 O_begin; // its first texel in the texture: others may lie beside it
ivec3 o_texel; // the one being computed, relative to that: column, row, plane

// NaN shall stay NaN, on drivers that have it. max() and its like lose it, exp() on some, and drivers make max() of a
// comparison that selects one of its sides.
vec4 tsr_keep_nan(vec4 v, vec4 result) { return mix(result, v, isnan(v)); }
// Does v take the place of the largest element so far? NaN does, and stays.
bvec4 tsr_larger(vec4 v, vec4 best) { return bvec4(uvec4(greaterThan(v, best)) | uvec4(isnan(v))); }

// A pass's table of weights, where it has one.
uniform sampler2D table;
uniform vec2 table_inverse; // 1 / columns, 1 / rows

// Texels are read at integer coordinates: by texelFetch, or, with SAMPLE, from the texture without filtering at the
// texel's middle, which is half again as fast on llvmpipe (it calls a function for texelFetch), a seventh slower on a GPU,
// and as exact: a coordinate is off by less than a hundredth of a texel. With a level of detail, so that it may stand in
// any control flow.
// Where a texel of the table lies, and the texel i columns behind one.
#if SAMPLE
#define TABLE_AT vec2
vec2 table_at(int x, int y) { return (vec2(x, y) + 0.5) * table_inverse; }
vec4 table_texel(vec2 at, int i) { return textureLod(table, vec2(at.x + float(i) * table_inverse.x, at.y), 0.0); }
#else
#define TABLE_AT ivec2
ivec2 table_at(int x, int y) { return ivec2(x, y); }
vec4 table_texel(ivec2 at, int i) { return texelFetch(table, ivec2(at.x + i, at.y), 0); }
#endif

// v += a vector of four channels times the 4x4 weights between them and v's: one after the other, so that each is a
// multiply-add; the sum of four products would need an addition more.
#define ACCUMULATE(v, a, w0, w1, w2, w3)                                                                              \
    v += a.x * w0;                                                                                                    \
    v += a.y * w1;                                                                                                    \
    v += a.z * w2;                                                                                                    \
    v += a.w * w3;

// ACT(v) for source A's columns begin to end - 1 of a line of a tile. Without a division as long as there is one for each
// plane and phase: begin is a multiple of them.
#define A_COLUMNS(tile, line, begin, end, ACT)                                                                        \
    {                                                                                                                 \
        const int group = A_PLANES * A_SPREAD;                                                                        \
        int column = begin, cell = begin / group;                                                                     \
        for (; column <= end - group; column += group, cell++)                                                        \
            for (int i = 0; i < group; i++) {                                                                         \
                vec4 v = A_cell(tile, line, cell + i / A_PLANES * (A_grid.y / A_SPREAD), i % A_PLANES);               \
                ACT(v)                                                                                                \
            }                                                                                                         \
        for (; column < end; column++) {                                                                              \
            vec4 v = A_fetch(tile, line, column);                                                                     \
            ACT(v)                                                                                                    \
        }                                                                                                             \
    }
