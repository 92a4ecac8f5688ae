// Reads the inputs and the operands of post-ops, which are stored as src/plan/layout.h describes. For each input S:
//     S_LINEAR             1: linear layout, which wraps
//     S_PLANES, S_STRIDE   its planes, and columns between the pixels of neighbouring planes
//     S_FIRST              columns between them in its first tiles; 0: as in the others
//     S_LOW                planes in its first texture; the others are in a second texture
//     S_SAME               1: stored as the output, texel by texel
//     S_ONE                1: it has one element
//     S_TEXEL              how its texels are stored: see glsl/prelude.glsl
//     S_SHIFTED, S_SCALED  1: integers stand for (stored - u.S_step.x) * u.S_step.y, with the former, the latter
//     S_BEFORE             1: S_before() is applied to each texel that is read: an operator before the kernel, which keeps 0
#for s SOURCES
#if $S_TEXEL == 0
#define $S_SAMPLER sampler2DArray
#define $S_stored(v) (v)
#elif $S_TEXEL == 1
#define $S_SAMPLER usampler2DArray
#define $S_stored(v) uintBitsToFloat(v)
#elif $S_TEXEL == 2
#define $S_SAMPLER usampler2DArray
#define $S_stored(v) vec4(v)
#else
#define $S_SAMPLER isampler2DArray
#define $S_stored(v) vec4(v)
#endif
uniform highp $S_SAMPLER tsr_source$s;
#define $S_TEXTURE tsr_source$s
#if $S_LOW < $S_PLANES
uniform highp $S_SAMPLER tsr_high;
#endif

// The element of what a texture holds. S_read_inside() for texels that may be outside the image, whose texels are of the row of
// zeros: where 0 is no zero, they are told apart.
#if $S_SHIFTED
#define $S_shifted(v) ($S_stored(v) - u.$S_step.x)
#else
#define $S_shifted(v) $S_stored(v)
#endif
#if $S_SCALED
#define $S_element(v) ($S_shifted(v) * u.$S_step.y)
#else
#define $S_element(v) $S_shifted(v)
#endif
#if $S_BEFORE
#define $S_read(v) $S_before($S_element(v))
#else
#define $S_read(v) $S_element(v)
#endif
#if $S_SHIFTED && $S_SCALED == 0 && $S_BEFORE == 0
#define $S_read_inside(v, inside) ($S_read(v) * float(inside)) // finite
#elif $S_SHIFTED
#define $S_read_inside(v, inside) ((inside) ? $S_read(v) : vec4(0.0))
#else
#define $S_read_inside(v, inside) $S_read(v)
#endif

// The texel at integer coordinates, in one of two ways: see glsl/prelude.glsl.
vec4 $S_texel(int x, int y, int plane) {
#if $S_LOW < $S_PLANES
    ivec2 at = u.$S_begin + ivec2(x, y);
    return $S_read(plane < $S_LOW ? texelFetch(tsr_source$s, ivec3(at, plane), 0)
                                    : texelFetch(tsr_high, ivec3(at, plane - $S_LOW), 0));
#elif SAMPLE
    return $S_read(textureLod(tsr_source$s, vec3((vec2(u.$S_begin + ivec2(x, y)) + 0.5) * u.$S_inverse, plane), 0.0));
#else
    return $S_read(texelFetch(tsr_source$s, ivec3(u.$S_begin + ivec2(x, y), plane), 0));
#endif
}

// Column x of a tile: column in its plane, plane. Of tile k: $S_place_in.
ivec2 $S_place(int x) {
    int group = x / $S_STRIDE;
    return ivec2((x - group * $S_STRIDE) * (u.$S_tile_width / $S_STRIDE) + group / $S_PLANES, group % $S_PLANES);
}
#if $S_FIRST
ivec2 $S_place_first(int x) {
    int group = x / $S_FIRST;
    return ivec2((x - group * $S_FIRST) * (u.$S_tile_width / $S_FIRST) + group / $S_PLANES, group % $S_PLANES);
}
ivec2 $S_place_in(int k, int x) { return k < u.$S_first_tiles ? $S_place_first(x) : $S_place(x); }
#else
ivec2 $S_place_in(int k, int x) { return $S_place(x); }
#endif

// Tile k's first texel in the texture.
ivec2 $S_origin(int k) {
    return u.$S_begin + ivec2(k & ((1 << u.$S_columns_log2) - 1), k >> u.$S_columns_log2) * ivec2(u.$S_tile_width, u.$S_H);
}

// Row y of tile k in a plane: its texel in one of the tile's columns.
vec4 $S_cell(int k, int y, int column, int plane) {
#if $S_LINEAR
    int i = (k * u.$S_H + y) * u.$S_tile_width + column;
    return $S_texel(i & ((1 << u.$S_columns_log2) - 1), i >> u.$S_columns_log2, plane);
#else
    ivec2 cell = ivec2(k & ((1 << u.$S_columns_log2) - 1), k >> u.$S_columns_log2);
    return $S_texel(cell.x * u.$S_tile_width + column, cell.y * u.$S_H + y, plane);
#endif
}

// Channels 4t..4t+3 of pixel (x, y) of image n, k = n * u.S_tiles + t; all in range.
vec4 $S_fetch(int k, int y, int x) {
    ivec2 place = $S_place_in(k, x);
    return $S_cell(k, y, place.x, place.y);
}

// The same for the pixel being computed, in a tensor of the output's size.
vec4 $S_own(int n, int t, int y, int x) {
#if $S_SAME
    return $S_texel(o_texel.x, o_texel.y, o_texel.z);
#else
    return $S_fetch(n * u.$S_tiles + t, y, x);
#endif
}

// As S_fetch, zero outside the image: by a select, since NaN * 0 is not 0.
vec4 $S_pixel(int k, int y, int x) {
    bool inside = y >= 0 && y < u.$S_H && x >= 0 && x < u.$S_W;
    vec4 v = $S_fetch(k, inside ? y : 0, inside ? x : 0);
    return inside ? v : vec4(0.0);
}

// One element.
float $S_at(int n, int c, int y, int x) {
    vec4 v = $S_fetch(n * u.$S_tiles + (c >> 2), y, x);
    int lane = c & 3;
    return lane < 2 ? (lane == 0 ? v.x : v.y) : (lane == 2 ? v.z : v.w);
}

// Axes of size 1 are broadcast.
vec4 $S_broadcast(int n, int t, int y, int x) {
#if $S_ONE
    return $S_texel(0, 0, 0).xxxx;
#else
    int k = min(n, u.$S_N - 1) * u.$S_tiles + min(t, u.$S_tiles - 1);
    vec4 v = $S_fetch(k, min(y, u.$S_H - 1), min(x, u.$S_W - 1));
    return u.$S_C == 1 ? v.xxxx : v;
#endif
}

// DepthToSpace of the tensor; a single resulting channel is broadcast. dcr 1: mode DCR, the position in the block varies
// slowest along the channels; 0: CRD, fastest.
vec4 $S_depth_to_space(int n, int t, int y, int x, int blocksize, int dcr) {
    int count = u.$S_C / (blocksize * blocksize);
    ivec2 pixel = ivec2(x, y) / blocksize, inner = ivec2(x, y) - pixel * blocksize;
    int position = inner.y * blocksize + inner.x;
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), count - 1);
    c = dcr == 1 ? c + position * count : c * (blocksize * blocksize) + position;
    return vec4($S_at(n, c.x, pixel.y, pixel.x), $S_at(n, c.y, pixel.y, pixel.x),
                $S_at(n, c.z, pixel.y, pixel.x), $S_at(n, c.w, pixel.y, pixel.x));
}
#endfor
