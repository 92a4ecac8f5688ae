// Transposed convolution by output phase, for a row stride that divides PLANES: which taps meet an output pixel
// depends on its phase alone, (x + pad) mod stride, known for each plane when the program is made. No tap falls on an
// inserted zero.
//   STRIDE, TAPS, PAD        of the row (dilation 1, TAPS the whole kernel width)
//   EACH_TAP(M), EACH_COLUMN(M), ROW    as in glsl/conv.glsl
//   COLUMN_MIN               input column of row[0], relative to x / STRIDE
uniform ivec4 window_y; // kernel height, stride, unused, pad
uniform ivec4 channels; // as in glsl/conv.glsl
uniform sampler2D table; // block (t * tiles + i) * kernel height + ky: 4 * TAPS texels

// Input column of output plane j and tap kx, and whether there is one. The bias keeps the division from rounding up.
#define OFFSET(j, kx) (((j) + PAD - (kx) + 64 * STRIDE) / STRIDE - 64 - COLUMN_MIN)
#define MEETS(j, kx) (((j) + PAD - (kx) + 64 * STRIDE) % STRIDE == 0)

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int first = ((4 * t) / channels.y * channels.z) >> 2;
    int ix = x / STRIDE + COLUMN_MIN;
    int phase = (y + window_y.w + 64 * window_y.y) % window_y.y; // pads may be negative
    for (int i = 0; i < channels.x; i++) {
        int k = n * A_grid.x + min(first + i, A_grid.x - 1);
        for (int ky = phase; ky < window_y.x; ky += window_y.y) {
            int iy = (y + window_y.w - ky) / window_y.y;
            if (y + window_y.w < ky || iy >= A_size.z)
                continue;
            vec4 row[ROW];
            int block = (t * channels.x + i) * window_y.x + ky;
            ivec2 at = ivec2((block & ((1 << channels.w) - 1)) * (4 * TAPS), block >> channels.w);
#define COLUMN(i) row[i] = A_pixel(k, iy, ix + i);
            EACH_COLUMN(COLUMN)
#define MAC(j, kx)                                                                                                    \
    if (MEETS(j, kx))                                                                                                 \
        v[j] += row[OFFSET(j, kx)].x * w0 + row[OFFSET(j, kx)].y * w1 + row[OFFSET(j, kx)].z * w2 +                   \
                row[OFFSET(j, kx)].w * w3;
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
