// Sums of the channels of each pixel up to each of them.
//   EXCLUSIVE 1   without itself
//   REVERSE 1     from the last one
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var sum = vec4f();
    var part = vec4f();
#if REVERSE
    for (var i = u.X_tiles - 1; i > t; i--) {
#else
    for (var i = 0; i < t; i++) {
#endif
        part += X_fetch(n * u.X_tiles + i, y, x);
        if (i % 16 == 15) { // sums of few keep rounding errors small
            sum += part;
            part = vec4f();
        }
    }
    sum += part;
    let v = X_fetch(n * u.X_tiles + t, y, x);
#if EXCLUSIVE && REVERSE
    let own = vec4f(v.y + (v.z + v.w), v.z + v.w, v.w, 0.0);
#elif EXCLUSIVE
    let own = vec4f(0.0, v.x, v.x + v.y, v.x + v.y + v.z);
#elif REVERSE
    let own = vec4f(v.x + v.y + (v.z + v.w), v.y + (v.z + v.w), v.z + v.w, v.w);
#else
    let own = vec4f(v.x, v.x + v.y, v.x + v.y + v.z, v.x + v.y + (v.z + v.w));
#endif
    return own + (sum.x + sum.y + (sum.z + sum.w));
}
