// The end of every program: finds which pixels the fragment writes, has the kernel compute them, applies the post-ops
// (tsr_post, written by src/gles/shader.c) and stores. A kernel defines one of
//     vec4 kernel(int n, int t, int y, int x)        a pixel's four channels
//     float element(int n, int c, int y, int x)      one of them                            with KERNEL_ELEMENT
//     void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES])
//                                                    pixels x, x + SPREAD, ...              with KERNEL_ROW
layout(location = 0) out highp vec4 o_plane[PLANES];

// Integer division, exact for a < 2^22: the quotient's error stays below half of 1/b.
int divide(int a, float inverse) { return int(floor((float(a) + 0.5) * inverse)); }

#ifdef KERNEL_ELEMENT
vec4 kernel(int n, int t, int y, int x) {
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), O_size.y - 1); // padding channels: anything
    return vec4(element(n, c.x, y, x), element(n, c.y, y, x), element(n, c.z, y, x), element(n, c.w, y, x));
}
#endif

#ifndef KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define PIXEL(j, unused)                                                                                              \
    o_texel.z = j;                                                                                                    \
    v[j] = kernel(n, t, y, min(x + j * SPREAD, O_size.w - 1));
    EACH_PLANE(PIXEL, 0)
}
#endif

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy) - O_begin;
    o_texel.xy = p;
#if O_LINEAR
    int i = (p.y << O_grid.z) + p.x;
    int row = i / O_grid.y, k = row / O_size.z;
    int column = i - row * O_grid.y, y = row - k * O_size.z;
#else
    ivec2 cell = ivec2(divide(p.x, O_inverse.x), divide(p.y, O_inverse.y));
    int k = (cell.y << O_grid.z) + cell.x;
    int column = p.x - cell.x * O_grid.y, y = p.y - cell.y * O_size.z;
#endif
    k = min(k, O_size.x * O_grid.x - 1); // behind the last tile: anything
    int n = k / O_grid.x, t = k - n * O_grid.x;
#if SPREAD == 1
    int x = column * PLANES;
#else
    int width = O_grid.y / SPREAD, phase = column / width; // fragments of one phase side by side
    int x = (column - phase * width) * (PLANES * SPREAD) + phase;
#endif
    vec4 v[PLANES];
    kernel_row(n, t, y, x, v);
    bvec4 holds = lessThan(ivec4(4 * t) + ivec4(0, 1, 2, 3), ivec4(O_size.y)); // padding channels stay zero
#define STORE(j, unused)                                                                                              \
    o_texel.z = j;                                                                                                    \
    v[j] = tsr_post(v[j], n, t, y, min(x + j * SPREAD, O_size.w - 1));                                                \
    o_plane[j] = mix(vec4(0.0), v[j], holds);
    EACH_PLANE(STORE, 0)
}
