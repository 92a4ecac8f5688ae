// Convolution. A fragment computes PLANES adjacent pixels of four output channels, so that a texel of weights,
// once fetched, serves them all, and so does a row of input (glsl/row.glsl).
//   STRIDE, DILATION, TAPS   of the row; a wider kernel runs in chunks of TAPS (zero weights fill the last)
//   EACH_TAP(M), EACH_COLUMN(M)   M(0) .. M(TAPS - 1); M(0) .. M(ROW - 1)
//   ROW                      input columns from the first to the last that a fragment reads
//   table                    block ((t * tiles + i) * kernel height + ky) * chunks + chunk: 4 * TAPS texels, by tap
//                            and input channel
uniform ivec4 window_y; // kernel height, stride, dilation, pad
uniform ivec4 window_x; // chunks, unused, unused, pad
uniform ivec4 channels; // tiles that an output tile reads, output and input channels of a group, log2 of blocks per row
uniform ivec4 slices;   // input tiles of a slice of the sum, images of each slice: glsl/slices.glsl adds them up

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int first = ((4 * t) / channels.y * channels.z) >> 2; // input tile where the output tile's group begins
    int slice = n / slices.y, image = n - slice * slices.y, end = min((slice + 1) * slices.x, channels.x);
    for (int chunk = 0; chunk < window_x.x; chunk++) {
        row_begin(x * STRIDE - window_x.w + chunk * TAPS * DILATION);
        for (int i = slice * slices.x; i < end; i++) {
            int k = image * A_grid.x + min(first + i, A_grid.x - 1);
            for (int ky = 0; ky < window_y.x; ky++) {
                int iy = y * window_y.y + ky * window_y.z - window_y.w;
                if (iy < 0 || iy >= A_size.z)
                    continue;
                vec4 row[ROW];
                ROW_READ(row, k, iy)
                int block = ((t * channels.x + i) * window_y.x + ky) * window_x.x + chunk;
                TABLE_AT at = table_at((block & ((1 << channels.w) - 1)) * (4 * TAPS), block >> channels.w);
#define MAC(j, kx) ACCUMULATE(v[j], row[j * STRIDE + kx * DILATION], w0, w1, w2, w3)
#define TAP(kx)                                                                                                       \
    {                                                                                                                 \
        vec4 w0 = table_texel(at, 4 * kx), w1 = table_texel(at, 4 * kx + 1), w2 = table_texel(at, 4 * kx + 2),        \
             w3 = table_texel(at, 4 * kx + 3);                                                                        \
        EACH_PLANE(MAC, kx)                                                                                           \
    }
                EACH_TAP(TAP)
            }
        }
    }
}
