// Softmax over at most four channels: in one pass.
//   LOGS 1    the logarithm of it
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let texel = X_own(n, t, y, x);
    let holds = vec4i(0, 1, 2, 3) < vec4i(u.X_C);
    let v = select(texel.xxxx, texel, holds); // padding channels repeat the first and are not summed
    let difference = v - max(max(v.x, v.y), max(v.z, v.w));
    let e = tsr_exp(difference, vec2f()) * vec4f(holds);
#if LOGS
    return difference - log(e.x + e.y + (e.z + e.w));
#else
    return e / (e.x + e.y + (e.z + e.w));
#endif
}
