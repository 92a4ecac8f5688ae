// As glsl/adam_update.glsl.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let before = X_own(n, t, y, x);
    var v = V_own(n, t, y, x);
    var h = H_own(n, t, y, x);
    let f = F_fetch(0, 0, 0);
    let g = select(G_own(n, t, y, x) * f.x, vec4f(), f.x == 0.0) + before * u.norm_coefficient;
    v += (g - v) * u.mean_part;
    h += (g * g - h) * u.square_part;
    tsr_more0 = v;
    tsr_more1 = h;
    return before * f.w - v / (sqrt(h) * f.z + u.epsilon) * f.y;
}
