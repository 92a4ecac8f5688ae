// Implicit GEMM of im2col windows (src/algorithm/im2col_gemm.h). A draw computes a group of pixels; each fragment computes a
// tile of output channels of all of them and reads the group's window of the input from a uniform block. Plane j is pixel j
// of the group, row by row.
//   GROUP, WINDOW            columns of a group, columns of a window
//   window_texels            of an input tile
//   ROWS, TAPS               of the kernel: rows, columns
//   ROW_STRIDE, ROW_DILATION, STRIDE, DILATION    of rows, of columns
//   BLOCK, BLOCK_ROWS        texels of a uniform block, and windows that it holds
//   table                    panels of panel_rows by panel_columns texels, one texel for each fragment: side by side for the
//                            four input channels of a tap, one below the other for the taps of all input tiles of a
//                            partial sum. With TABLE_OF_4 the four channels of a fragment are a group
//   image                    of a draw: the output's first image that it writes
#include weight_scale
layout(std140) uniform im2col { vec4 block[BLOCK]; };

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
#if BLOCK_ROWS == 1
    int first = u.image;
#if SHARED == 0
    n = first;
#endif
#else
    int first = n;
#endif
#include im2col_place
#if BLOCK_ROWS > 1
    // In one round of the loop: so compilers see that all fragments read the same texel of the block at a time.
    for (int r = 0; r < BLOCK_ROWS; r++) {
        if (r != (window & ${BLOCK_ROWS - 1}))
            continue;
#else
    const int r = 0;
#endif
    int i = partial * u.partial_tiles, begin = at + r * ${BLOCK / BLOCK_ROWS};
    for (int k = 0; k < u.partial_tiles; k++, i++, begin += u.window_texels) { // texels after the last tile are zero
#include tile_scale
        for (int ky = 0, from = begin; ky < ROWS; ky++, from += ${ROW_DILATION * WINDOW}) {
#for k TAPS
            {
#if TABLE_OF_4
                TABLE_AT texel = weights_begin(column, row);
#for c 4
                vec4 w$c = channel_weights(texel, 0, $c);
#endfor
                const int kx = $k;
#include scaled_weights
#else
                TABLE_AT texel = table_at(column, row);
#for c 4
                vec4 w$c = table_texel(texel, $c * u.panel_columns);
#endfor
#endif
#for j PLANES
                {
                    vec4 a = block[from + ${j / GROUP * ROW_STRIDE * WINDOW + j % GROUP * STRIDE + k * DILATION}];
#for c 4
                    v$j += a[$c] * w$c;
#endfor
                }
#endfor
                row += u.panel_rows;
            }
#endfor
        }
    }
#if BLOCK_ROWS > 1
    }
#endif
}
