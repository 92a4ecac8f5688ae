// Depthwise convolution: every channel its own kernel. As glsl/conv.glsl, with one texel of weights a tap.
//   table    block (t * kernel height + ky) * chunks + chunk: TAPS texels
uniform ivec4 window_y; // kernel height, stride, dilation, pad
uniform ivec4 window_x; // chunks, unused, unused, pad
uniform ivec4 channels; // w: log2 of blocks per row

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int k = n * A_grid.x + t;
    for (int chunk = 0; chunk < window_x.x; chunk++) {
        row_begin(x * STRIDE - window_x.w + chunk * TAPS * DILATION);
        for (int ky = 0; ky < window_y.x; ky++) {
            int iy = y * window_y.y + ky * window_y.z - window_y.w;
            if (iy < 0 || iy >= A_size.z)
                continue;
            vec4 row[ROW];
            ROW_READ(row, k, iy)
            int block = (t * window_y.x + ky) * window_x.x + chunk;
            TABLE_AT at = table_at((block & ((1 << channels.w) - 1)) * TAPS, block >> channels.w);
#define MAC(j, kx) v[j] += row[j * STRIDE + kx * DILATION] * w;
#define TAP(kx)                                                                                                       \
    {                                                                                                                 \
        vec4 w = table_texel(at, kx);                                                                                 \
        EACH_PLANE(MAC, kx)                                                                                           \
    }
            EACH_TAP(TAP)
        }
    }
}
