// Gather along AXIS (0 N, 1 C, 2 H, 3 W) by constant indices, one texel of the table each.
uniform ivec4 width; // x: log2 of the table's width
int taken(int i) { return int(table_texel(table_at(i & ((1 << width.x) - 1), i >> width.x), 0).x); }

vec4 kernel(int n, int t, int y, int x) {
    ivec4 p = ivec4(n, t, y, x);
#if AXIS == 1
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), O_size.y - 1);
    return vec4(A_at(n, taken(c.x), y, x), A_at(n, taken(c.y), y, x), A_at(n, taken(c.z), y, x),
                A_at(n, taken(c.w), y, x));
#else
    p[AXIS] = taken(p[AXIS]);
    return A_fetch(p.x * A_grid.x + p.y, p.z, p.w);
#endif
}
