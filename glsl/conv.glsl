// Convolution. A fragment computes PLANES adjacent pixels of four output channels, so that a texel of weights,
// once fetched, serves them all, and so does a row of input.
//   STRIDE, DILATION, TAPS   of the row; a wider kernel runs in chunks of TAPS (zero weights fill the last)
//   EACH_TAP(M), EACH_COLUMN(M)   M(0) .. M(TAPS - 1); M(i) for every input column that a tap reads
//   ROW                      input columns from the first to the last, + 1
uniform ivec4 window_y; // kernel height, stride, dilation, pad
uniform ivec4 window_x; // chunks, unused, unused, pad
uniform ivec4 channels; // tiles that an output tile reads, output channels of a group, input channels of a group, log2 of blocks per row
uniform sampler2D table; // block ((t * tiles + i) * kernel height + ky) * chunks + chunk: 4 * TAPS texels, by tap and input channel

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int first = ((4 * t) / channels.y * channels.z) >> 2; // input tile where the output tile's group begins
    int block = t * channels.x * window_y.x * window_x.x;
    for (int i = 0; i < channels.x; i++) {
        int k = n * A_grid.x + min(first + i, A_grid.x - 1);
        for (int ky = 0; ky < window_y.x; ky++) {
            int iy = y * window_y.y + ky * window_y.z - window_y.w;
            if (iy < 0 || iy >= A_size.z) {
                block += window_x.x;
                continue;
            }
            int ix = x * STRIDE - window_x.w;
            for (int chunk = 0; chunk < window_x.x; chunk++, block++, ix += TAPS * DILATION) {
                vec4 row[ROW];
                ivec2 at = ivec2((block & ((1 << channels.w) - 1)) * (4 * TAPS), block >> channels.w);
#define COLUMN(i) row[i] = A_pixel(k, iy, ix + i);
                EACH_COLUMN(COLUMN)
#define MAC(j, kx)                                                                                                    \
    v[j] += row[j * STRIDE + kx * DILATION].x * w0 + row[j * STRIDE + kx * DILATION].y * w1 +                         \
            row[j * STRIDE + kx * DILATION].z * w2 + row[j * STRIDE + kx * DILATION].w * w3;
#define TAP(kx)                                                                                                       \
    {                                                                                                                 \
        vec4 w0 = texelFetch(table, at + ivec2(4 * kx, 0), 0), w1 = texelFetch(table, at + ivec2(4 * kx + 1, 0), 0),  \
             w2 = texelFetch(table, at + ivec2(4 * kx + 2, 0), 0), w3 = texelFetch(table, at + ivec2(4 * kx + 3, 0), 0); \
        EACH_PLANE(MAC, kx)                                                                                           \
    }
                EACH_TAP(TAP)
            }
        }
    }
}
