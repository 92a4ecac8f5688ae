// im2col: stores the windows of the input that groups of a convolution's output pixels read. Row y, or image n, is
// the block of a partial sum of a group, texel x is (tile, row, column) of the window: src/algorithm/im2col_gemm.h.
//   groups_y, groups_x             rows, columns of groups in an image
//   window_rows, window_columns    of a window
//   partials, partial_tiles        partial sums, input tiles of one
//   step_y, step_x                 rows and columns of input from one group to the next
//   pad_y, pad_x                   rows, columns of the first group's window before the image
vec4 kernel(int n, int t, int y, int x) {
    int block = n + y;
    int group = tsr_quotient(block, u.partials), row = tsr_quotient(group, u.groups_x), image = tsr_quotient(row, u.groups_y);
    int line = tsr_quotient(x, u.window_columns), tile = tsr_quotient(line, u.window_rows);
    int k = (block - group * u.partials) * u.partial_tiles + tile;
    int at_y = (row - image * u.groups_y) * u.step_y - u.pad_y + line - tile * u.window_rows;
    int at_x = (group - row * u.groups_x) * u.step_x - u.pad_x + x - line * u.window_columns;
    bool some = tile < u.partial_tiles && k < u.X_tiles;
    return some ? X_pixel(image * u.X_tiles + k, at_y, at_x) : vec4(0.0);
}
