// The end of every program: finds which pixels the fragment writes, has the kernel compute them, applies the
// post-ops (tsr_post, written by src/gles/shader.c) and stores. A kernel defines either
//     vec4 kernel(int n, int t, int y, int x)                               one pixel's four channels, or
//     void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES])       pixels x, x + SPREAD, ... (and KERNEL_ROW)
layout(location = 0) out highp vec4 o_plane[PLANES];

// Integer division, exact for a < 2^22: the quotient's error stays below half of 1/b.
int divide(int a, float inverse) { return int(floor((float(a) + 0.5) * inverse)); }

#ifndef KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define PIXEL(j, unused) v[j] = kernel(n, t, y, min(x + j * SPREAD, O_size.w - 1));
    EACH_PLANE(PIXEL, 0)
}
#endif

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
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
    v[j] = tsr_post(v[j], n, t, y, min(x + j * SPREAD, O_size.w - 1));                                                         \
    o_plane[j] = vec4(holds.x ? v[j].x : 0.0, holds.y ? v[j].y : 0.0, holds.z ? v[j].z : 0.0, holds.w ? v[j].w : 0.0);
    EACH_PLANE(STORE, 0)
}
