// Convolution of a group of pixels, all of whose fragments, one for each tile of output channels, read the group's window
// of the input from a uniform block: see src/gles/windows.h. Plane j is pixel j of the group, row by row.
//   GROUP, WINDOW, TILE      columns of a group, columns of a window, texels of a tile's window
//   ROWS, TAPS, EACH_TAP(M)  of the kernel: rows, columns
//   ROW_STRIDE, ROW_DILATION, STRIDE, DILATION    of rows, of columns
//   BLOCK                    texels of a block
//   table                    panels of a texel for each fragment: four beside each other for the input channels of a tap,
//                            one below the other for the taps of all input tiles of a slice
uniform ivec4 panel; // rows, columns
uniform ivec4 part; // first column in the table, its phase's first texel in a window, input tiles
layout(std140) uniform windows { vec4 block[BLOCK]; };

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int column = part.x + x / PLANES;
    for (int i = 0; i < part.z; i++) {
        int at = part.y + i * TILE;
        for (int ky = 0; ky < ROWS; ky++, at += ROW_DILATION * WINDOW) {
#define MAC(j, kx)                                                                                                    \
    {                                                                                                                 \
        vec4 a = block[at + j / GROUP * ROW_STRIDE * WINDOW + j % GROUP * STRIDE + kx * DILATION];                    \
        ACCUMULATE(v[j], a, w0, w1, w2, w3)                                                                           \
    }
#define TAP(kx)                                                                                                       \
    {                                                                                                                 \
        TABLE_AT texel = table_at(column, y);                                                                         \
        vec4 w0 = table_texel(texel, 0), w1 = table_texel(texel, panel.y), w2 = table_texel(texel, 2 * panel.y),      \
             w3 = table_texel(texel, 3 * panel.y);                                                                    \
        EACH_PLANE(MAC, kx)                                                                                           \
        y += panel.x;                                                                                                 \
    }
            EACH_TAP(TAP)
        }
    }
}
