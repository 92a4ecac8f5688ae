// Normalizes the channels of a pixel by what layer_moments has found.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let m = moments_fetch(n, y, x);
    return (X_own(n, t, y, x) - m.x) * m.y;
}
