// One step of a reduction: each fragment takes a block of the input.
//   OPERATION 0: sum; 1: maximum
//   MAP 0: a; 1: exp(a - b), b a tensor of size 1 along the axes that are reduced
//   TILES 1: a block has many tiles; FOLD 1: at last, the channels of a texel into one
//   PIXELS 0: a block is one pixel, so that nothing but tiles is left to loop over; COLUMNS 0: it has one column
uniform ivec4 block; // images, tiles, rows, columns of one
uniform vec4 factor; // x: of the result

#if OPERATION == 1
#define NEUTRAL -3.402823466e38
#define COMBINE(a, b) mix(a, b, tsr_larger(b, a))
#else
#define NEUTRAL 0.0
#define COMBINE(a, b) ((a) + (b))
#endif

vec4 subtracted; // b, the same for a whole block

vec4 mapped(vec4 v) {
#if MAP
    return tsr_exp(v - subtracted, vec2(0.0));
#else
    return v;
#endif
}

ivec2 place; // of a block's only column

#if COLUMNS
// Columns begin to end - 1 of row y. Without a division as long as there is a column for each plane and phase: begin is a
// multiple of them.
vec4 line(int k, int y, int begin, int end) {
    const int group = A_PLANES * A_SPREAD;
    vec4 total = vec4(NEUTRAL);
    int x = begin, column = begin / group;
    for (; x <= end - group; x += group, column++)
        for (int i = 0; i < group; i++) {
            vec4 v = A_cell(k, y, column + i / A_PLANES * (A_grid.y / A_SPREAD), i % A_PLANES);
            total = COMBINE(total, mapped(v));
        }
    for (; x < end; x++)
        total = COMBINE(total, mapped(A_fetch(k, y, x)));
    return total;
}
#else
vec4 line(int k, int y, int begin, int end) { return mapped(A_cell(k, y, place.x, place.y)); }
#endif

vec4 kernel(int n, int t, int y, int x) {
    vec4 total = vec4(NEUTRAL);
#if MAP
    subtracted = B_broadcast(n, t, y, x);
#endif
    place = A_place(x);
    ivec4 start = ivec4(n, t, y, x) * block;
    ivec4 end = min(start + block, ivec4(A_size.x, A_grid.x, A_size.zw));
    for (int u = start.y; u < end.y; u++) {
#if PIXELS
        vec4 sum = vec4(NEUTRAL);
        for (int i = start.x; i < end.x; i++)
            for (int iy = start.z; iy < end.z; iy++)
                sum = COMBINE(sum, line(i * A_grid.x + u, iy, start.w, end.w));
#else
        vec4 sum = mapped(A_cell(n * A_grid.x + u, y, place.x, place.y));
#endif
#if TILES
        bvec4 holds = lessThan(ivec4(4 * u) + ivec4(0, 1, 2, 3), ivec4(A_size.y));
        sum = mix(vec4(NEUTRAL), sum, holds);
#endif
        total = COMBINE(total, sum);
    }
#if FOLD
    total = COMBINE(total, total.yxwz);
    total = COMBINE(total, total.zwxy);
#endif
    return total * factor.x;
}
