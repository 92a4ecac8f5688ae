// Implicit GEMM of im2col windows (src/algorithm/im2col_gemm.h). A draw computes a group of pixels; each fragment computes a
// tile of output channels of all of them and reads the group's window of the input from a uniform block. Plane j is pixel j
// of the group, row by row.
//   GROUP, WINDOW            columns of a group, columns of a window
//   window_texels            of an input tile
//   ROWS, TAPS               of the kernel: rows, columns
//   ROW_STRIDE, ROW_DILATION, STRIDE, DILATION    of rows, of columns
//   BLOCK                    texels of a uniform block
//   table                    panels of panel_rows by panel_columns texels, one texel for each fragment: side by side for the
//                            four input channels of a tap, one below the other for the taps of all input tiles of a
//                            partial sum
//   first_column, first_texel, tiles    of a draw: first column in the table, first texel of its phase in a window, input
//                            tiles
layout(std140) uniform im2col { vec4 block[BLOCK]; };

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
    int column = u.first_column + x / PLANES, row = y;
    for (int i = 0; i < u.tiles; i++) {
        int at = u.first_texel + i * u.window_texels;
        for (int ky = 0; ky < ROWS; ky++, at += ${ROW_DILATION * WINDOW}) {
#for k TAPS
            {
                TABLE_AT texel = table_at(column, row);
#for c 4
                vec4 w$c = table_texel(texel, $c * u.panel_columns);
#endfor
#for j PLANES
                {
                    vec4 a = block[at + ${j / GROUP * ROW_STRIDE * WINDOW + j % GROUP * STRIDE + k * DILATION}];
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
}
