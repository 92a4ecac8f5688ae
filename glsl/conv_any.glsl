// Convolution for every stride and dilation, a pixel at a time: where glsl/conv.glsl's row would grow too long.
uniform ivec4 window_y; // kernel, stride, dilation, pad
uniform ivec4 window_x;
uniform ivec4 channels; // as in glsl/conv.glsl
// table: block ((t * tiles + i) * kernel height + ky) * kernel width + kx: 4 texels

vec4 kernel(int n, int t, int y, int x) {
    int first = ((4 * t) / channels.y * channels.z) >> 2;
    ivec2 start = ivec2(x * window_x.y - window_x.w, y * window_y.y - window_y.w);
    vec4 sum = vec4(0.0);
    for (int i = 0; i < channels.x; i++) {
        int k = n * A_grid.x + min(first + i, A_grid.x - 1);
        for (int ky = 0; ky < window_y.x; ky++)
            for (int kx = 0; kx < window_x.x; kx++) {
                int block = ((t * channels.x + i) * window_y.x + ky) * window_x.x + kx;
                TABLE_AT at = table_at((block & ((1 << channels.w) - 1)) * 4, block >> channels.w);
                vec4 v = A_pixel(k, start.y + ky * window_y.z, start.x + kx * window_x.z);
                sum += v.x * table_texel(at, 0) + v.y * table_texel(at, 1) +
                       v.z * table_texel(at, 2) + v.w * table_texel(at, 3);
            }
    }
    return sum;
}
