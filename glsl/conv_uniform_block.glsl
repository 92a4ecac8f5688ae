// Direct convolution with packed weights in uniform blocks. A draw computes a few tiles of output channels of one partial
// sum of one phase, so that all of its fragments read the same weights at the same time, which GPUs do from fast constant
// memory. The output has the images of the first partial sum, then those of the second and so on, phase by phase. A phase of
// a transposed convolution is a convolution of stride 1; a convolution has a single phase. glsl/conv_assemble.glsl adds up
// partial sums and assembles phases.
//   STRIDE, DILATION, TAPS, ROW    as in glsl/conv_direct.glsl
//                            With ROW 0 a fragment reads tap by tap; TILES is 1
//   taps                     TAPS, for that loop
//   ROWS, ROW_STRIDE, ROW_DILATION    of the kernel's rows
//   TILES                    of a draw: column x of the output is pixel x / TILES of tile t * TILES + x % TILES
//   PIXELS                   of a fragment: PLANES / TILES
//   BLOCK                    texels of a uniform block: ((input tile * kernel height + ky) * TAPS + kx) * TILES + tile, by
//                            input channel
//   first_tile, tiles, pad_y, pad_x    of a draw: first input tile, input tiles, pads
layout(std140) uniform weights { vec4 block[BLOCK]; };

#if ROW
#include row
#else
#include tap
#define TAP_STEP STRIDE
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
    int first = n % u.X_N * u.X_tiles + u.first_tile;
#if ROW
    row_begin(x / TILES * STRIDE - u.pad_x);
#else
    int at = 0;
#endif
    for (int i = 0; i < u.tiles; i++) {
        for (int ky = 0; ky < ROWS; ky++) {
            int line = y * ROW_STRIDE + ky * ROW_DILATION - u.pad_y;
#if ROW
            int tile = first + i;
#include row_read
            int at = (i * ROWS + ky) * ${4 * TAPS * TILES};
#for k TAPS
#for m TILES
            {
#for c 4
                vec4 w$c = block[at + ${4 * (k * TILES + m) + c}];
#endfor
#for j PIXELS
#for c 4
                v${j * TILES + m} += row${j * STRIDE + k * DILATION}[$c] * w$c;
#endfor
#endfor
            }
#endfor
#endfor
#else
            tap_row(first + i, line);
            for (int kx = 0, column = x * STRIDE - u.pad_x; kx < u.taps; kx++, at += 4, column += DILATION) {
#for c 4
                vec4 w$c = block[at + $c];
#endfor
#include tap_products
            }
#endif
        }
    }
}
