// Transposed convolution of any stride, dilation and kernel, one pixel at a time: starts at the first tap of the pixel's
// phase and steps from tap to tap, so that no tap is multiplied by an inserted zero.
//   step_y, step_x   taps between two of the same phase: of rows, of columns
//   table            entry ((t * tiles + i) * kernel height + ky) * kernel width + kx: 4 texels
#include weight_scale

// The first tap k with (position - k * dilation) divisible by stride; the kernel's size if there is none.
int first_tap(int position, int size, int stride, int dilation, int step) {
    for (int k = 0; k < min(step, size); k++)
        if (abs(position - k * dilation) % stride == 0)
            return k;
    return size;
}

vec4 kernel(int n, int t, int y, int x) {
    ivec2 p = ivec2(x + u.window_x.pad, y + u.window_y.pad);
    int start_x = first_tap(p.x, u.window_x.kernel, u.window_x.stride, u.window_x.dilation, u.step_x);
    int start_y = first_tap(p.y, u.window_y.kernel, u.window_y.stride, u.window_y.dilation, u.step_y);
#include group_begin
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.channels.tiles; i++) {
#include group_own
#include tile_scale
        int k = n * u.X_tiles + min(first + i, u.X_tiles - 1);
        for (int ky = start_y; ky < u.window_y.kernel && ky * u.window_y.dilation <= p.y; ky += u.step_y) {
            int iy = (p.y - ky * u.window_y.dilation) / u.window_y.stride;
            if (iy >= u.X_H)
                continue;
            for (int kx = start_x; kx < u.window_x.kernel && kx * u.window_x.dilation <= p.x; kx += u.step_x) {
                int ix = (p.x - kx * u.window_x.dilation) / u.window_x.stride;
                if (ix >= u.X_W)
                    continue;
                int entry = ((t * u.channels.tiles + i) * u.window_y.kernel + ky) * u.window_x.kernel + kx;
                int log2 = u.channels.entries_log2;
                TABLE_AT at = weights_begin(entry & ((1 << log2) - 1), entry >> log2);
                vec4 v = X_fetch(k, iy, ix);
#include group_sum
            }
        }
    }
    return sum;
}
