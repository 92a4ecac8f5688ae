// Convolution whose weights lie in a uniform block: a draw computes a few tiles of output channels of one part of the
// work, so that all of its fragments read the same weights at the same time, which costs a GPU next to nothing. The
// output's images are those of the first part, then those of the second and so on; a part is a slice of the sum, or a
// phase of a transposed convolution (of slices each), which is a convolution of stride 1. glsl/parts.glsl puts them
// together.
//   STRIDE, DILATION, TAPS, ROW, EACH_TAP(M), EACH_COLUMN(M)    as in glsl/conv.glsl
//   ROWS, ROW_STRIDE, ROW_DILATION    of the kernel's rows
//   TILES, EACH_TILE(M)      of a draw: column x of the output is pixel x / TILES of tile t * TILES + x % TILES
//   PIXELS, EACH_PIXEL(M)    of a fragment: PLANES / TILES
//   BLOCK                    texels of a block: ((input tile * kernel height + ky) * TAPS + kx) * TILES + tile, by input
//                            channel
uniform ivec4 part; // of the input: first tile, tiles, pads of rows and columns
layout(std140) uniform weights { vec4 block[BLOCK]; };

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define ZERO(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(ZERO, 0)
    int first = n % A_size.x * A_grid.x + part.x;
    row_begin(x / TILES * STRIDE - part.w);
    for (int i = 0; i < part.y; i++) {
        for (int ky = 0; ky < ROWS; ky++) {
            vec4 row[ROW];
            ROW_READ(row, first + i, y * ROW_STRIDE + ky * ROW_DILATION - part.z)
            int at = (i * ROWS + ky) * (4 * TAPS * TILES);
#define MAC(j) ACCUMULATE(v[j * TILES + tile], row[j * STRIDE + tap * DILATION], w0, w1, w2, w3)
#define TILE(i)                                                                                                       \
    {                                                                                                                 \
        const int tile = i, texel = 4 * (tap * TILES + tile);                                                         \
        vec4 w0 = block[at + texel], w1 = block[at + texel + 1], w2 = block[at + texel + 2],                          \
             w3 = block[at + texel + 3];                                                                              \
        EACH_PIXEL(MAC)                                                                                               \
    }
#define TAP(kx)                                                                                                       \
    {                                                                                                                 \
        const int tap = kx;                                                                                           \
        EACH_TILE(TILE)                                                                                               \
    }
            EACH_TAP(TAP)
        }
    }
}
