// Reading a tensor. Put into a program once for each source, with T_ names defined to the source's own; T_LINEAR is 1 if
// its texels wrap, T_PLANES and T_SPREAD say how columns lie in planes: src/plan/layout.h tells the layout. T_SAME is 1
// if its texels are the output's one by one, as many of them.
uniform highp sampler2DArray T_texture;
uniform ivec4 T_size; // N, C, H, W
uniform ivec4 T_grid; // tiles per image, columns of a tile in a plane, log2 of the grid's columns
uniform vec2 T_inverse; // 1 / the texture's columns, 1 / its rows; the last row is zero
uniform ivec2 T_begin; // the tensor's first texel in the texture: others may lie beside it
#if T_LOW < T_PLANES
uniform highp sampler2DArray T_high;
#endif

// The texel at integer coordinates, in one of two ways: see glsl/prelude.glsl.
vec4 T_texel(int x, int y, int plane) {
#if T_LOW < T_PLANES
    ivec2 at = T_begin + ivec2(x, y);
    return plane < T_LOW ? texelFetch(T_texture, ivec3(at, plane), 0) : texelFetch(T_high, ivec3(at, plane - T_LOW), 0);
#elif SAMPLE
    return textureLod(T_texture, vec3((vec2(T_begin + ivec2(x, y)) + 0.5) * T_inverse, plane), 0.0);
#else
    return texelFetch(T_texture, ivec3(T_begin + ivec2(x, y), plane), 0);
#endif
}

// Where column x of a tile lies: column in its plane, plane.
ivec2 T_place(int x) {
    int group = x / T_SPREAD;
    return ivec2((x - group * T_SPREAD) * (T_grid.y / T_SPREAD) + group / T_PLANES, group % T_PLANES);
}

// Tile k's first texel in the texture.
ivec2 T_origin(int k) {
    return T_begin + ivec2(k & ((1 << T_grid.z) - 1), k >> T_grid.z) * ivec2(T_grid.y, T_size.z);
}

// Row y of tile k in a plane: its texel in one of the tile's columns.
vec4 T_cell(int k, int y, int column, int plane) {
#if T_LINEAR
    int i = (k * T_size.z + y) * T_grid.y + column;
    return T_texel(i & ((1 << T_grid.z) - 1), i >> T_grid.z, plane);
#else
    ivec2 cell = ivec2(k & ((1 << T_grid.z) - 1), k >> T_grid.z);
    return T_texel(cell.x * T_grid.y + column, cell.y * T_size.z + y, plane);
#endif
}

// Channels 4t..4t+3 of pixel (x, y) of image n, k = n * T_grid.x + t; all in range.
vec4 T_fetch(int k, int y, int x) {
    ivec2 place = T_place(x);
    return T_cell(k, y, place.x, place.y);
}

// The same for the output's own pixel, in a tensor of the output's size.
vec4 T_own(int n, int t, int y, int x) {
#if T_SAME
    return T_texel(o_texel.x, o_texel.y, o_texel.z);
#else
    return T_fetch(n * T_grid.x + t, y, x);
#endif
}

// As T_fetch, zero beside the image: a select, so that nothing outside leaks in, not even NaN.
vec4 T_pixel(int k, int y, int x) {
    bool inside = y >= 0 && y < T_size.z && x >= 0 && x < T_size.w;
    vec4 v = T_fetch(k, inside ? y : 0, inside ? x : 0);
    return inside ? v : vec4(0.0);
}

// One element.
float T_at(int n, int c, int y, int x) {
    vec4 v = T_fetch(n * T_grid.x + (c >> 2), y, x);
    int lane = c & 3;
    return lane < 2 ? (lane == 0 ? v.x : v.y) : (lane == 2 ? v.z : v.w);
}

// Axes of size 1 repeat.
vec4 T_broadcast(int n, int t, int y, int x) {
    int k = min(n, T_size.x - 1) * T_grid.x + min(t, T_grid.x - 1);
    vec4 v = T_fetch(k, min(y, T_size.z - 1), min(x, T_size.w - 1));
    return T_size.y == 1 ? v.xxxx : v;
}

// DepthToSpace of the tensor, whose channels become blocks of pixels; a single channel of that repeats. dcr 1: the block
// comes first in the channels (depth-column-row), 0: last.
vec4 T_depth_to_space(int n, int t, int y, int x, int block, int dcr) {
    int count = T_size.y / (block * block);
    ivec2 pixel = ivec2(x, y) / block, inner = ivec2(x, y) - pixel * block;
    int part = inner.y * block + inner.x;
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), count - 1);
    c = dcr == 1 ? c + part * count : c * (block * block) + part;
    return vec4(T_at(n, c.x, pixel.y, pixel.x), T_at(n, c.y, pixel.y, pixel.x),
                T_at(n, c.z, pixel.y, pixel.x), T_at(n, c.w, pixel.y, pixel.x));
}
