// Convolution of any stride and dilation, one pixel at a time: for kernels too wide for the row of glsl/conv_direct.glsl.
//   table    entry ((t * tiles + i) * kernel height + ky) * kernel width + kx: 4 texels
#include weight_scale
vec4 kernel(int n, int t, int y, int x) {
#include group_begin
    ivec2 start = ivec2(x * u.window_x.stride - u.window_x.pad, y * u.window_y.stride - u.window_y.pad);
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.channels.tiles; i++) {
#include group_own
#include tile_scale
        int k = n * u.X_tiles + min(first + i, u.X_tiles - 1);
        for (int ky = 0; ky < u.window_y.kernel; ky++)
            for (int kx = 0; kx < u.window_x.kernel; kx++) {
                int entry = ((t * u.channels.tiles + i) * u.window_y.kernel + ky) * u.window_x.kernel + kx;
                int log2 = u.channels.entries_log2;
                TABLE_AT at = weights_begin(entry & ((1 << log2) - 1), entry >> log2);
                vec4 v = X_pixel(k, start.y + ky * u.window_y.dilation, start.x + kx * u.window_x.dilation);
#include group_sum
            }
    }
    return sum;
}
