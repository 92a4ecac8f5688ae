// Depthwise convolution: every channel its own kernel.
//   u.window_y, u.window_x   kernel, stride, dilation, pad
//   table                    texel (t * kernel height + ky) * kernel width + kx
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.A_grid.x + t;
    let start = vec2i(x * u.window_x.y - u.window_x.w, y * u.window_y.y - u.window_y.w);
    var sum = vec4f();
    for (var ky = 0; ky < u.window_y.x; ky++) {
        for (var kx = 0; kx < u.window_x.x; kx++) {
            let v = A_pixel(k, start.y + ky * u.window_y.z, start.x + kx * u.window_x.z);
            sum += v * table[(t * u.window_y.x + ky) * u.window_x.x + kx];
        }
    }
    return sum;
}
