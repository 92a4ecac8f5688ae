// The end of every program: finds which pixels the fragment writes, has the kernel compute them, applies the post-ops
// (tsr_post, written by src/gles/shader.c) and stores.
#for j PLANES
layout(location = $j) out highp vec4 o_plane$j;
#endfor

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy) - u.O_begin;
    o_texel.xy = p;
#if O_LINEAR
    int i = (p.y << u.O_columns_log2) + p.x;
    int row = i / u.O_tile_width, k = row / u.O_H;
    int column = i - row * u.O_tile_width, y = row - k * u.O_H;
#else
    ivec2 cell = ivec2(tsr_divide(p.x, u.O_inverse.x), tsr_divide(p.y, u.O_inverse.y));
    int k = (cell.y << u.O_columns_log2) + cell.x;
    int column = p.x - cell.x * u.O_tile_width, y = p.y - cell.y * u.O_H;
#endif
    k = min(k, u.O_N * u.O_tiles - 1); // after the last tile: anything
    int n = k / u.O_tiles, t = k - n * u.O_tiles;
#if PIXEL_STRIDE == 1
    int x = column * PLANES;
#else
    int width = u.O_tile_width / PIXEL_STRIDE, phase = column / width; // fragments of one phase side by side
    int x = (column - phase * width) * ${PLANES * PIXEL_STRIDE} + phase;
#endif
#if ROW_FORM
    kernel_row(n, t, y, x);
#else
#for j PLANES
    o_texel.z = $j;
    v$j = kernel(n, t, y, min(x + ${j * PIXEL_STRIDE}, u.O_W - 1));
#endfor
#endif
    bvec4 holds = lessThan(ivec4(4 * t) + ivec4(0, 1, 2, 3), ivec4(u.O_C)); // padding channels stay zero
#for j PLANES
    o_texel.z = $j;
    o_plane$j = mix(vec4(0.0), tsr_post(v$j, n, t, y, min(x + ${j * PIXEL_STRIDE}, u.O_W - 1)), holds);
#endfor
}
