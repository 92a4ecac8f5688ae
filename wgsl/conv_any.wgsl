// Convolution for every stride and dilation, a texel at a time.
//   u.window_y, u.window_x   kernel, stride, dilation, pad
//   u.channels               tiles that an output tile reads, output and input channels of a group
//   table                    block ((t * tiles + i) * kernel height + ky) * kernel width + kx: 4 texels, by input
//                            channel
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let first = ((4 * t) / u.channels.y * u.channels.z) >> 2; // input tile where the output tile's group begins
    let start = vec2i(x * u.window_x.y - u.window_x.w, y * u.window_y.y - u.window_y.w);
    var sum = vec4f();
    for (var i = 0; i < u.channels.x; i++) {
        let k = n * u.A_grid.x + min(first + i, u.A_grid.x - 1);
        for (var ky = 0; ky < u.window_y.x; ky++) {
            for (var kx = 0; kx < u.window_x.x; kx++) {
                let w = 4 * (((t * u.channels.x + i) * u.window_y.x + ky) * u.window_x.x + kx);
                let v = A_pixel(k, start.y + ky * u.window_y.z, start.x + kx * u.window_x.z);
                sum += v.x * table[w] + v.y * table[w + 1] + v.z * table[w + 2] + v.w * table[w + 3];
            }
        }
    }
    return sum;
}
