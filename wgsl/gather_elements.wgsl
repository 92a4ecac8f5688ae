// Each element from the place along AXIS (0 N, 1 C, 2 H, 3 W) that the index I names; negative ones count from the end.
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    var p = vec4i(n, c, y, x);
    let size = u.X_size[AXIS];
    let index = i32(I_at(n, c, y, x));
    p[AXIS] = clamp(select(index, index + size, index < 0), 0, size - 1);
    return X_at(p.x, p.y, p.z, p.w);
}
#include element
