// Gather along AXIS (0 N, 1 C, 2 H, 3 W) by constant indices, one texel of the table each, 2^width_log2 in a row.
int index(int i) { return int(table_texel(table_at(i & ((1 << u.width_log2) - 1), i >> u.width_log2), 0).x); }

#if AXIS == 1
float element(int n, int c, int y, int x) { return X_at(n, index(c), y, x); }
#include element
#else
vec4 kernel(int n, int t, int y, int x) {
    ivec4 p = ivec4(n, t, y, x);
    p[AXIS] = index(p[AXIS]);
    return X_fetch(p.x * u.X_tiles + p.y, p.z, p.w);
}
#endif
