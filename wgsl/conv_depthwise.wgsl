// Depthwise convolution.
//   table    texel (t * kernel height + ky) * kernel width + kx
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    let start = vec2i(x * u.window_x.stride - u.window_x.pad, y * u.window_y.stride - u.window_y.pad);
    var sum = vec4f();
    for (var ky = 0; ky < u.window_y.kernel; ky++) {
        for (var kx = 0; kx < u.window_x.kernel; kx++) {
            let v = X_pixel(k, start.y + ky * u.window_y.dilation, start.x + kx * u.window_x.dilation);
            sum += v * table[(t * u.window_y.kernel + ky) * u.window_x.kernel + kx];
        }
    }
    return sum;
}
