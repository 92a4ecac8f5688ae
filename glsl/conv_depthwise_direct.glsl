// Depthwise convolution. As glsl/conv_direct.glsl, with one texel of weights per tap.
//   table    entry (t * kernel height + ky) * chunks + chunk: TAPS texels, 2^entries_log2 entries in a row
#if ROW
#include row
#else
#include tap
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
    int tile = n * u.X_tiles + t;
#if ZEROS
    vec4 zero = S_fetch(t, 0, 0);
#define WEIGHT(at, i) (table_texel(at, i) - zero)
#else
#define WEIGHT(at, i) table_texel(at, i)
#endif
#if ROW
    for (int chunk = 0; chunk < u.chunks; chunk++) {
        row_begin(x * STRIDE - u.pad_x + chunk * ${TAPS * DILATION});
        for (int ky = 0; ky < u.window_y.kernel; ky++) {
            int line = y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad;
            if (line < 0 || line >= u.X_H)
                continue;
#include row_read
            int entry = (t * u.window_y.kernel + ky) * u.chunks + chunk;
            TABLE_AT at = table_at((entry & ((1 << u.entries_log2) - 1)) * TAPS, entry >> u.entries_log2);
#for k TAPS
            {
                vec4 w = WEIGHT(at, $k);
#for j PLANES
                v$j += row${j * STRIDE + k * DILATION} * w;
#endfor
            }
#endfor
        }
    }
#else
    for (int ky = 0; ky < u.window_y.kernel; ky++) {
        int entry = (t * u.window_y.kernel + ky) * u.chunks, column = x * STRIDE - u.pad_x;
        tap_row(tile, y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad);
        for (int chunk = 0; chunk < u.chunks; chunk++, entry++, column += ${TAPS * DILATION}) {
            TABLE_AT at = table_at((entry & ((1 << u.entries_log2) - 1)) * TAPS, entry >> u.entries_log2);
#if STRIDE == 1 && DILATION == 1
#for j PLANES-1
            vec4 a$j = tap_texel(column + $j);
#endfor
#for k TAPS
            vec4 w$k = WEIGHT(at, $k), a${k + PLANES - 1} = tap_texel(column + ${k + PLANES - 1});
#for j PLANES
            v$j += a${j + k} * w$k;
#endfor
#endfor
#else
#for k TAPS
            vec4 w$k = WEIGHT(at, $k);
#for j PLANES
            v$j += tap_texel(column + ${j * STRIDE + k * DILATION}) * w$k;
#endfor
#endfor
#endif
        }
    }
#endif
}
