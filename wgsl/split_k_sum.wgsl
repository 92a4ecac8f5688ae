// Adds up split-K partial sums, each of which is stored in as many images as the output has.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var sum = vec4f();
    for (var i = 0; i < u.partials; i++) {
        sum += X_fetch((i * u.O_N + n) * u.X_tiles + t, y, x);
    }
    return sum;
}
