// Products of the channels of each pixel up to each of them, in their order.
//   EXCLUSIVE 1   without itself
//   REVERSE 1     from the last one
fn factors(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    return select(X_fetch(n * u.X_tiles + t, y, x), vec4f(1.0), 4 * t + vec4i(0, 1, 2, 3) >= vec4i(u.X_C));
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var product = 1.0;
#if REVERSE
    for (var i = u.X_tiles - 1; i > t; i--) {
        let v = factors(n, i, y, x).wzyx;
#else
    for (var i = 0; i < t; i++) {
        let v = factors(n, i, y, x);
#endif
        product = product * v.x * v.y * v.z * v.w;
    }
#if REVERSE
    let v = factors(n, t, y, x).wzyx;
#else
    let v = factors(n, t, y, x);
#endif
    let first = product * v.x;
    let second = first * v.y;
    let third = second * v.z;
#if EXCLUSIVE
    let result = vec4f(product, first, second, third);
#else
    let result = vec4f(first, second, third, third * v.w);
#endif
#if REVERSE
    return result.wzyx;
#else
    return result;
#endif
}
