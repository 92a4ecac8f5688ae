// Gather along AXIS (0 N, 1 C, 2 H, 3 W) by constant indices, one texel of the table each.
uniform ivec4 width; // x: log2 of the table's width
int taken(int i) { return int(table_texel(table_at(i & ((1 << width.x) - 1), i >> width.x), 0).x); }

#if AXIS == 1
#define KERNEL_ELEMENT
float element(int n, int c, int y, int x) { return A_at(n, taken(c), y, x); }
#else
vec4 kernel(int n, int t, int y, int x) {
    ivec4 p = ivec4(n, t, y, x);
    p[AXIS] = taken(p[AXIS]);
    return A_fetch(p.x * A_grid.x + p.y, p.z, p.w);
}
#endif
