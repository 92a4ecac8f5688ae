// Lays out what groups of a convolution's output pixels see of its input, their windows: row y is the block of a slice of a
// group, texel x its (tile, row, column) of the window: src/gles/windows.h. What divides is known when this compiles.
//   GROUPS_Y, GROUPS_X   rows, columns of groups in an image
//   WINDOW_Y, WINDOW_X   rows, columns of a window
//   SLICES, SLICE        of a window, input tiles of one
uniform ivec4 steps; // rows and columns of input from one group to the next, those before the image of the first
vec4 kernel(int n, int t, int y, int x) {
    int group = y / SLICES, row = group / GROUPS_X, image = row / GROUPS_Y;
    int line = x / WINDOW_X, tile = line / WINDOW_Y, k = (y - group * SLICES) * SLICE + tile;
    ivec2 first = ivec2(group - row * GROUPS_X, row - image * GROUPS_Y) * steps.yx - steps.wz;
    ivec2 at = first + ivec2(x - line * WINDOW_X, line - tile * WINDOW_Y);
    bool some = tile < SLICE && k < A_grid.x;
    return some ? A_pixel(image * A_grid.x + k, at.y, at.x) : vec4(0.0);
}
