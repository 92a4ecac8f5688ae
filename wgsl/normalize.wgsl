// Instance normalization's last step: (a - mean) / sqrt(variance + epsilon); scale and bias are post-ops.
//   moments    mean, variance
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    return (X_own(n, t, y, x) - moments_fetch(k, 0, 0)) * inverseSqrt(moments_fetch(k, 0, 1) + u.epsilon);
}
