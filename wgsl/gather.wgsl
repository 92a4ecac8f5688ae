// Gather along AXIS (0 N, 1 C, 2 H, 3 W) by constant indices, one texel of the table each.
#if AXIS == 1
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 { return X_at(n, i32(table[c].x), y, x); }
#else
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var p = vec4i(n, t, y, x);
    p[AXIS] = i32(table[p[AXIS]].x);
    return X_fetch(p.x * u.X_tiles + p.y, p.z, p.w);
}
#endif
