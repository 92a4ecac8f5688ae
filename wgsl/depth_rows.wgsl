// Images as the depths of volumes: one below the other. The reverse of depth_taps with one tap.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let d = y / u.X_H;
    return X_fetch((n * u.depth + d) * u.X_tiles + t, y - d * u.X_H, x);
}
