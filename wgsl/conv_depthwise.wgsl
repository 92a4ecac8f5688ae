// Depthwise convolution.
//   table    texel (t * kernel height + ky) * kernel width + kx
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    let size = vec2i(u.window_x.kernel, u.window_y.kernel);
    let dilation = vec2i(u.window_x.dilation, u.window_y.dilation);
    let start = vec2i(x * u.window_x.stride - u.window_x.pad, y * u.window_y.stride - u.window_y.pad);
#if ZEROS
    let zero = S_fetch(t, 0, 0);
#endif
    var sum = vec4f();
    var weight = t * size.y * size.x;
    for (var ky = 0; ky < size.y; ky++) {
        for (var kx = 0; kx < size.x; kx++) {
            var w = table_texel(weight);
#if ZEROS
            w -= zero;
#endif
            sum += X_pixel(k, start.y + ky * dilation.y, start.x + kx * dilation.x) * w;
            weight++;
        }
    }
    return sum;
}
