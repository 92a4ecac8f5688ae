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
    // Tested at its end: SwiftShader runs the body of other loops once more.
    let end = weight + size.y * size.x;
    var tap = vec2i();
    loop {
        var w = table_texel(weight);
#if ZEROS
        w -= zero;
#endif
        let p = start + tap * dilation;
        sum += X_pixel(k, p.y, p.x) * w;
        weight++;
        tap.x++;
        if (tap.x == size.x) {
            tap = vec2i(0, tap.y + 1);
        }
        continuing {
            break if weight == end;
        }
    }
    return sum;
}
