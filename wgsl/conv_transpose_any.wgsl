// Transposed convolution of any stride, dilation and kernel, one texel at a time: starts at the first tap of the pixel's
// phase and steps from tap to tap, so that no tap is multiplied by an inserted zero.
//   step_y, step_x    taps between two of the same phase: of rows, of columns
//   table             as in wgsl/conv_any.wgsl
#include weight_scale

// The first tap k with (position - k * dilation) divisible by stride; the kernel's size if there is none.
fn first_tap(position: i32, size: i32, stride: i32, dilation: i32, step: i32) -> i32 {
    for (var k = 0; k < min(step, size); k++) {
        if (abs(position - k * dilation) % stride == 0) {
            return k;
        }
    }
    return size;
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let p = vec2i(x + u.window_x.pad, y + u.window_y.pad);
    let start = vec2i(first_tap(p.x, u.window_x.kernel, u.window_x.stride, u.window_x.dilation, u.step_x),
                      first_tap(p.y, u.window_y.kernel, u.window_y.stride, u.window_y.dilation, u.step_y));
#include group_begin
    var sum = vec4f();
    for (var i = 0; i < u.channels.tiles; i++) {
#include group_own
        let k = n * u.X_tiles + min(first + i, u.X_tiles - 1);
        for (var ky = start.y; ky < u.window_y.kernel && ky * u.window_y.dilation <= p.y; ky += u.step_y) {
            let iy = (p.y - ky * u.window_y.dilation) / u.window_y.stride;
            if (iy >= u.X_H) {
                continue;
            }
            for (var kx = start.x; kx < u.window_x.kernel && kx * u.window_x.dilation <= p.x; kx += u.step_x) {
                let ix = (p.x - kx * u.window_x.dilation) / u.window_x.stride;
                if (ix >= u.X_W) {
                    continue;
                }
                let w = 4 * (((t * u.channels.tiles + i) * u.window_y.kernel + ky) * u.window_x.kernel + kx);
                let v = X_fetch(k, iy, ix);
#include group_sum
            }
        }
    }
    return sum;
}
