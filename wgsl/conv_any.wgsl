// Convolution of any stride and dilation, one texel at a time.
//   table    entry ((t * tiles + i) * kernel height + ky) * kernel width + kx: 4 texels, by input channel
#include weight_scale
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#include group_begin
    let start = vec2i(x * u.window_x.stride - u.window_x.pad, y * u.window_y.stride - u.window_y.pad);
    var sum = vec4f();
    for (var i = 0; i < u.channels.tiles; i++) {
#include group_own
        let k = n * u.X_tiles + min(first + i, u.X_tiles - 1);
        for (var ky = 0; ky < u.window_y.kernel; ky++) {
            for (var kx = 0; kx < u.window_x.kernel; kx++) {
                let w = 4 * (((t * u.channels.tiles + i) * u.window_y.kernel + ky) * u.window_x.kernel + kx);
                let v = X_pixel(k, start.y + ky * u.window_y.dilation, start.x + kx * u.window_x.dilation);
#include group_sum
            }
        }
    }
    return sum;
}
