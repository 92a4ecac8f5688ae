// As glsl/conv_weight_grad_direct.glsl.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if GROUPED
    let tile = n / u.group_outputs * u.O_tiles + t;
#else
    let tile = t;
#endif
    let top = y * u.window_y.dilation - u.window_y.pad;
    let left = x * u.window_x.dilation - u.window_x.pad;
    var sum = vec4f();
    for (var image = 0; image < u.G_N; image++) {
        for (var oy = 0; oy < u.G_H; oy++) {
            for (var ox = 0; ox < u.G_W; ox++) {
                let iy = oy * u.window_y.stride + top;
                let ix = ox * u.window_x.stride + left;
                if (iy >= 0 && iy < u.X_H && ix >= 0 && ix < u.X_W) {
                    sum += G_at(image, n, oy, ox) * X_fetch(image * u.X_tiles + tile, iy, ix);
                }
            }
        }
    }
    return sum;
}
