// As glsl/conv_weight_grad_sum.glsl.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let tap = y * u.O_W + x;
    var sum = vec4f();
    for (var i = 0; i < u.partials; i++) {
#if BLOCK
        sum += X_fetch((i * u.blocks + n / BLOCK) * u.X_tiles + t, 0, tap * BLOCK + n % BLOCK);
#else
        sum.x += X_at(i, n, 0, tap);
#endif
    }
    return sum;
}
