// Transposed convolution for every stride, dilation and kernel, a pixel at a time: starts at the first tap that
// meets the pixel's phase and steps from tap to tap, so none falls on an inserted zero here either.
uniform ivec4 window_y; // kernel, stride, dilation, pad
uniform ivec4 window_x;
uniform ivec4 steps;    // taps between two that meet the same phase: of rows, of columns
uniform ivec4 channels; // as in glsl/conv.glsl
// table: block ((t * tiles + i) * kernel height + ky) * kernel width + kx: 4 texels

// The first tap k with (position - k * dilation) divisible by stride; the kernel's size if there is none.
int first_tap(int position, ivec4 window, int step) {
    for (int k = 0; k < min(step, window.x); k++)
        if (abs(position - k * window.z) % window.y == 0)
            return k;
    return window.x;
}

vec4 kernel(int n, int t, int y, int x) {
    ivec2 p = ivec2(x + window_x.w, y + window_y.w);
    ivec2 start = ivec2(first_tap(p.x, window_x, steps.y), first_tap(p.y, window_y, steps.x));
    int first = ((4 * t) / channels.y * channels.z) >> 2;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < channels.x; i++) {
        int k = n * A_grid.x + min(first + i, A_grid.x - 1);
        for (int ky = start.y; ky < window_y.x && ky * window_y.z <= p.y; ky += steps.x) {
            int iy = (p.y - ky * window_y.z) / window_y.y;
            if (iy >= A_size.z)
                continue;
            for (int kx = start.x; kx < window_x.x && kx * window_x.z <= p.x; kx += steps.y) {
                int ix = (p.x - kx * window_x.z) / window_x.y;
                if (ix >= A_size.w)
                    continue;
                int block = ((t * channels.x + i) * window_y.x + ky) * window_x.x + kx;
                TABLE_AT at = table_at((block & ((1 << channels.w) - 1)) * 4, block >> channels.w);
                vec4 v = A_fetch(k, iy, ix);
                sum += v.x * table_texel(at, 0) + v.y * table_texel(at, 1) +
                       v.z * table_texel(at, 2) + v.w * table_texel(at, 3);
            }
        }
    }
    return sum;
}
