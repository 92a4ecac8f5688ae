// As glsl/conv_im2col.glsl, in one draw for all groups, sets and partial sums, for GPUs of few registers: windows are read from
// the texture, since their drivers copy a texture to a buffer with the CPU and wait for all passes before it.
//   GROUP, WINDOW            columns of a group, columns of a window
//   window_texels            of an input tile
//   ROWS, taps               of the kernel: rows, columns
//   TAPS                     1: it has one column; 0: any number
//   ROW_STRIDE, ROW_DILATION, STRIDE, DILATION    of rows, of columns
//   SHARED                   1: all sets read the same window of a group
//   PHASES                   1: a set is a phase of a transposed convolution: of phases_y rows, phases_x columns of phases;
//                            pad_y, pad_x: its padding modulo these
//   table                    as there: panels of panel_rows by panel_columns texels
//   sets, partials, partial_tiles, input_tiles    see src/algorithm/im2col_gemm.h
#include product_precision
#include weight_scale
#if TAPS
#define TAPS_END 1
#else
#define TAPS_END u.taps
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
    int first = n;
#include im2col_place
    int tiles = min(u.partial_tiles, u.input_tiles - partial * u.partial_tiles);
    int i = partial * u.partial_tiles;
    for (int end = at + tiles * u.window_texels; at < end; at += u.window_texels, i++) {
#include tile_scale
        for (int ky = 0, line = at; ky < ROWS; ky++, line += ${ROW_DILATION * WINDOW}) {
            for (int kx = 0, from = line; kx < TAPS_END; kx++, from += DILATION, row += u.panel_rows) {
#if TABLE_OF_4
                TABLE_AT texel = weights_begin(column, row);
#for c 4
                PRODUCT vec4 w$c = channel_weights(texel, 0, $c);
#endfor
#include scaled_weights
#else
                TABLE_AT texel = table_at(column, row);
#for c 4
                PRODUCT vec4 w$c = table_texel(texel, $c * u.panel_columns);
#endfor
#endif
#for j PLANES
                {
                    PRODUCT vec4 a = X_fetch(window, 0, from + ${j / GROUP * ROW_STRIDE * WINDOW + j % GROUP * STRIDE});
#include product_sum
                }
#endfor
            }
        }
    }
#include product_scale
}
