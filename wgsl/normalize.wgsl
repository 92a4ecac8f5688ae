// Instance normalization's last step: (a - mean) / sqrt(variance + epsilon); scale and bias are post-ops.
//   B, C         mean, variance
//   u.epsilon    x
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let centered = A_fetch(n * u.A_grid.x + t, y, x) - B_broadcast(n, t, y, x);
    return centered / sqrt(C_broadcast(n, t, y, x) + u.epsilon.x);
}
