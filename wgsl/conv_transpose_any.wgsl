// Transposed convolution for every stride, dilation and kernel, a texel at a time: starts at the first tap that meets
// the pixel's phase and steps from tap to tap, so none falls on an inserted zero.
//   u.window_y, u.window_x   kernel, stride, dilation, pad
//   u.steps                  taps between two that meet the same phase: of rows, of columns
//   u.channels, table        as in wgsl/conv_any.wgsl

// The first tap k with (position - k * dilation) divisible by stride; the kernel's size if there is none.
fn first_tap(position: i32, window: vec4i, step: i32) -> i32 {
    for (var k = 0; k < min(step, window.x); k++) {
        if (abs(position - k * window.z) % window.y == 0) {
            return k;
        }
    }
    return window.x;
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let p = vec2i(x + u.window_x.w, y + u.window_y.w);
    let start = vec2i(first_tap(p.x, u.window_x, u.steps.y), first_tap(p.y, u.window_y, u.steps.x));
    let first = ((4 * t) / u.channels.y * u.channels.z) >> 2;
    var sum = vec4f();
    for (var i = 0; i < u.channels.x; i++) {
        let k = n * u.A_grid.x + min(first + i, u.A_grid.x - 1);
        for (var ky = start.y; ky < u.window_y.x && ky * u.window_y.z <= p.y; ky += u.steps.x) {
            let iy = (p.y - ky * u.window_y.z) / u.window_y.y;
            if (iy >= u.A_size.z) {
                continue;
            }
            for (var kx = start.x; kx < u.window_x.x && kx * u.window_x.z <= p.x; kx += u.steps.y) {
                let ix = (p.x - kx * u.window_x.z) / u.window_x.y;
                if (ix >= u.A_size.w) {
                    continue;
                }
                let w = 4 * (((t * u.channels.x + i) * u.window_y.x + ky) * u.window_x.x + kx);
                let v = A_fetch(k, iy, ix);
                sum += v.x * table[w] + v.y * table[w + 1] + v.z * table[w + 2] + v.w * table[w + 3];
            }
        }
    }
    return sum;
}
