// Each element from the place along AXIS (0 N, 1 C, 2 H, 3 W) that the index I names; negative ones count from the end.
//   SHARED 1: I has one column for all
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    var p = vec4i(n, c, y, x);
    let size = u.X_size[AXIS];
#if SHARED
    let index = i32(I_at(n, c, y, 0));
#else
    let index = i32(I_at(n, c, y, x));
#endif
    p[AXIS] = clamp(select(index, index + size, index < 0), 0, size - 1);
    return X_at(p.x, p.y, p.z, p.w);
}
#include element
