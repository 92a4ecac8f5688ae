// Transposed convolution by output phase, (x + pad) mod stride: the pixels of a fragment are a stride apart (SPREAD is
// STRIDE), so they share a phase and the taps that meet it, every STRIDE-th of the kernel. No tap falls on an inserted
// zero.
//   STRIDE                   of the row (dilation 1)
//   TAPS                     that meet a phase: kernel width / STRIDE, rounded up; absent ones have zero weights
//   EACH_TAP(M), EACH_COLUMN(M), ROW    as in glsl/conv.glsl; ROW is PLANES + TAPS - 1
//   table                    block (t * tiles + i) * kernel height + ky: 4 * TAPS * STRIDE texels
uniform ivec4 window_y; // kernel height, stride, unused, pad
uniform ivec4 window_x;
uniform ivec4 channels, slices; // as in glsl/conv.glsl

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int first = ((4 * t) / channels.y * channels.z) >> 2;
    int slice = n / slices.y, image = n - slice * slices.y, end = min((slice + 1) * slices.x, channels.x);
    ivec2 p = ivec2(x + window_x.w, y + window_y.w), stride = ivec2(STRIDE, window_y.y);
    ivec2 input_at = p / stride, phase = p - input_at * stride; // the input that meets the phase's first tap
    row_begin(input_at.x - (TAPS - 1));
    for (int i = slice * slices.x; i < end; i++) {
        int k = image * A_grid.x + min(first + i, A_grid.x - 1);
        int iy = input_at.y;
        for (int ky = phase.y; ky < window_y.x; ky += window_y.y, iy--) {
            if (iy < 0 || iy >= A_size.z)
                continue;
            vec4 row[ROW];
            ROW_READ(row, k, iy)
            int block = (t * channels.x + i) * window_y.x + ky;
            int column = (block & ((1 << channels.w) - 1)) * (4 * TAPS * STRIDE) + 4 * phase.x;
            TABLE_AT at = table_at(column, block >> channels.w);
#define MAC(j, m) ACCUMULATE(v[j], row[j + TAPS - 1 - m], w0, w1, w2, w3)
#define TAP(m)                                                                                                        \
    {                                                                                                                 \
        vec4 w0 = table_texel(at, 4 * STRIDE * m), w1 = table_texel(at, 4 * STRIDE * m + 1),                          \
             w2 = table_texel(at, 4 * STRIDE * m + 2), w3 = table_texel(at, 4 * STRIDE * m + 3);                      \
        EACH_PLANE(MAC, m)                                                                                            \
    }
            EACH_TAP(TAP)
        }
    }
}
