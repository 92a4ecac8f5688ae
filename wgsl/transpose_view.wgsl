// Transpose of a view of X, each axis of which is a sum of the output's by steps.
//   WHOLE 1   channels are X's: copies whole texels
#if WHOLE
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let p = vec4i(n, t, y, x);
    return X_fetch(dot(p, u.to_n) * u.X_tiles + dot(p, u.to_c), dot(p, u.to_h), dot(p, u.to_w));
}
#else
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let p = vec4i(n, c, y, x);
    return X_at(dot(p, u.to_n), dot(p, u.to_c), dot(p, u.to_h), dot(p, u.to_w));
}
#include element
#endif
