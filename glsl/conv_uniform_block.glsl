// Direct convolution with packed weights in uniform blocks. A draw computes a few tiles of output channels of one partial
// sum of one phase, so that all of its fragments read the same weights at the same time, which GPUs do from fast constant
// memory. The output has the images of the first partial sum, then those of the second and so on, phase by phase. A phase of
// a transposed convolution is a convolution of stride 1; a convolution has a single phase. glsl/conv_assemble.glsl adds up
// partial sums and assembles phases.
//   STRIDE, DILATION, TAPS, ROW    as in glsl/conv_direct.glsl
//                            With ROW 0 a fragment reads tap by tap; TILES is 1
//   POINTWISE                with ROW 0: the kernel has one tap and never reads padding pixels
//   UNROLL                   with ROW 0: what a trip of that loop reads: taps or, POINTWISE, input tiles
//   DOTS                     1: texels of weights are those of an output channel: glsl/product_sum.glsl
//   TRIP                     with ROW 0: not 0: inputs stored so that it applies are read by glsl/tap_places.glsl
//   rows, taps               ROWS, TAPS, for that loop
//   ROWS, ROW_STRIDE, ROW_DILATION    of the kernel's rows
//   TILES                    of a draw: column x of the output is pixel x / TILES of tile t * TILES + x % TILES
//   PIXELS                   of a fragment: PLANES / TILES
//   BLOCK, BLOCK_ROWS       texels of a uniform block, and tiles of the output whose weights it holds: for each
//                            ((input tile * kernel height + ky) * TAPS + kx) * TILES + tile, by input channel
//   first_tile, tiles, pad_y, pad_x    of a draw: first input tile, input tiles, pads
layout(std140) uniform weights { vec4 block[BLOCK]; };

#include product_precision
#if ROW
#include row
#elif POINTWISE == 0
#include tap
#define TAP_STEP STRIDE
#if UNROLL > 1
#define ROWS_END u.rows // no constant: compilers would unroll rows, too
#define TAPS_END TAPS
#else
#define ROWS_END ROWS
#define TAPS_END u.taps
#endif
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
#if ONE_IMAGE
    int first = u.first_tile;
#else
    int first = (n - tsr_quotient(n, u.X_N) * u.X_N) * u.X_tiles + u.first_tile;
#endif
#if BLOCK_ROWS > 1 && ROW && ROWS * TAPS > 1
    // In one round of the loop: so compilers see that all fragments read the same texel of the block at a time.
    for (int r = 0, begin = 0; r < BLOCK_ROWS; r++, begin += ${BLOCK / BLOCK_ROWS}) {
        if (r != (t & ${BLOCK_ROWS - 1}))
            continue;
#elif BLOCK_ROWS > 1
    int begin = (t & ${BLOCK_ROWS - 1}) * ${BLOCK / BLOCK_ROWS};
#else
    const int begin = 0;
#endif
#if ROW
    row_begin(x / TILES * STRIDE - u.pad_x);
    for (int i = 0; i < u.tiles; i++) {
        int tile = first + i;
        for (int ky = 0; ky < ROWS; ky++) {
            int line = y * ROW_STRIDE + ky * ROW_DILATION - u.pad_y, at = begin + (i * ROWS + ky) * ${4 * TAPS * TILES};
#include row_read
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
        }
    }
#if BLOCK_ROWS > 1 && ROWS * TAPS > 1
    }
#endif
#elif POINTWISE
    int line = y * ROW_STRIDE;
#include point_places
    for (int i = 0; i < u.tiles; i += UNROLL) {
#for k UNROLL
        {
            int tile = first + i + $k;
#for c 4
            PRODUCT vec4 w$c = block[begin + 4 * i + ${4 * k + c}];
#endfor
#include point_products
        }
#endfor
    }
#elif TRIP && X_STRIDE == 1 && X_FIRST == 0 && X_PLANES <= 2 && X_LINEAR == 0 && X_LOW == X_PLANES
#include tap_places
#else
    int at = begin;
    for (int i = 0; i < u.tiles; i++) {
        for (int ky = 0; ky < ROWS_END; ky++) {
            tap_row(first + i, y * ROW_STRIDE + ky * ROW_DILATION - u.pad_y);
            int column = x * STRIDE - u.pad_x;
            for (int kx = 0; kx < TAPS_END; kx += UNROLL) {
#for k UNROLL
                {
#for c 4
                    PRODUCT vec4 w$c = block[at + $c];
#endfor
#include tap_products
                }
                at += 4;
                column += DILATION;
#endfor
            }
        }
    }
#endif
#include product_scale
}
