// Lays out what groups of a convolution's output pixels see of its input: row y is the block of a slice of a group, texel
// x its (tile, row, column) of the window: src/gles/windows.h.
uniform ivec4 groups; // rows, columns of groups in an image, rows and columns of input from one to the next
uniform ivec4 window; // rows, columns, pads of the first
uniform ivec4 slices; // of a window, input tiles of a slice
vec4 kernel(int n, int t, int y, int x) {
    int group = y / slices.x, row = group / groups.y, image = row / groups.x;
    int line = x / window.y, tile = line / window.x, k = (y - group * slices.x) * slices.y + tile;
    ivec2 first = ivec2(group - row * groups.y, row - image * groups.x) * groups.wz - window.wz;
    ivec2 at = first + ivec2(x - line * window.y, line - tile * window.x);
    bool some = tile < slices.y && k < A_grid.x;
    return some ? A_pixel(image * A_grid.x + k, at.y, at.x) : vec4(0.0);
}
