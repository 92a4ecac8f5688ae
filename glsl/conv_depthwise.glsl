// Depthwise convolution: every channel its own kernel. As glsl/conv.glsl, with one texel of weights a tap.
uniform ivec4 window_y; // kernel height, stride, dilation, pad
uniform ivec4 window_x; // chunks, unused, unused, pad
uniform ivec4 channels; // unused, unused, unused, log2 of blocks per row
uniform sampler2D table; // block (t * kernel height + ky) * chunks + chunk: TAPS texels

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int k = n * A_grid.x + t, block = t * window_y.x * window_x.x;
    for (int ky = 0; ky < window_y.x; ky++) {
        int iy = y * window_y.y + ky * window_y.z - window_y.w;
        if (iy < 0 || iy >= A_size.z) {
            block += window_x.x;
            continue;
        }
        int ix = x * STRIDE - window_x.w;
        for (int chunk = 0; chunk < window_x.x; chunk++, block++, ix += TAPS * DILATION) {
            vec4 row[ROW];
            ivec2 at = ivec2((block & ((1 << channels.w) - 1)) * TAPS, block >> channels.w);
#define COLUMN(i) row[i] = A_pixel(k, iy, ix + i);
            EACH_COLUMN(COLUMN)
#define MAC(j, kx) v[j] += row[j * STRIDE + kx * DILATION] * w;
#define TAP(kx)                                                                                                       \
    {                                                                                                                 \
        vec4 w = texelFetch(table, at + ivec2(kx, 0), 0);                                                             \
        EACH_PLANE(MAC, kx)                                                                                           \
    }
            EACH_TAP(TAP)
        }
    }
}
