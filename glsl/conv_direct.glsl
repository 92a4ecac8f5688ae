// Direct convolution. A fragment computes PLANES adjacent pixels of four output channels, so that it fetches each texel of
// weights and of its row of input (glsl/row.glsl) once for all of them.
//   STRIDE, DILATION, TAPS   of the row; a wider kernel runs in chunks of TAPS (zero weights fill the last)
//   ROW                      input columns from the first to the last that a fragment reads
//   table                    entry ((t * tiles + i) * kernel height + ky) * chunks + chunk: 4 * TAPS texels, by tap
//                            and input channel
//                            With ROW 0 a fragment reads tap by tap: TAPS is 1, each tap a chunk.
//   COMPUTED                 1: no table, but a tensor W of weights: each texel has four input channels of an output channel
//   POINTWISE                with ROW 0: the kernel has one tap and never reads padding pixels; not with SHARED
//   GROUPED                  1: several groups of channels
//   SHARED                   1: whose channels share texels (glsl/group_own.glsl)
//   split                    split-K: each partial sum is stored in separate images, see glsl/split_k_sum.glsl
#include product_precision
#include weight_scale
#if COMPUTED
#include weight_texels
#endif
#if ROW
#include row
#elif POINTWISE == 0
#include tap
#define TAP_STEP STRIDE
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
#include split_tiles
#if ROW
    int chunk = 0;
    do {
        row_begin(x * STRIDE - u.pad_x + chunk * ${TAPS * DILATION});
        // One loop over the kernel's rows of all input tiles, tested at its end: llvmpipe runs the body of a loop that is tested
        // at its start once more than necessary.
        int i = begin, ky = 0;
        do {
            int line = y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad;
            if (line >= 0 && line < u.X_H) {
#include group_own
#include tile_scale
#include conv_weight_tiles
                int tile = image * u.X_tiles + min(first + i, u.X_tiles - 1);
#include row_read
#if COMPUTED == 0
                int entry = ((t * u.channels.tiles + i) * u.window_y.kernel + ky) * u.chunks + chunk;
                int log2 = u.channels.entries_log2;
                TABLE_AT at = weights_begin((entry & ((1 << log2) - 1)) * TAPS, entry >> log2);
#endif
#for k TAPS
                {
                    int kx = chunk * TAPS + $k;
#if COMPUTED
#include conv_computed_weights
#else
#for c 4
                    vec4 w$c = channel_weights(at, $k, $c);
#endfor
#endif
#include scaled_weights
#for j PLANES
#for c 4
#if SHARED
                    v$j += mix(vec4(0.0), row${j * STRIDE + k * DILATION}[$c] * w$c, own$c);
#else
                    v$j += row${j * STRIDE + k * DILATION}[$c] * w$c;
#endif
#endfor
#endfor
                }
#endfor
            }
            if (++ky >= u.window_y.kernel) {
                ky = 0;
                i++;
            }
        } while (i < end);
    } while (++chunk < u.chunks);
#elif POINTWISE
    int line = y * u.window_y.stride, log2 = u.channels.entries_log2;
#include point_places
    int i = begin;
    do {
        int tile = image * u.X_tiles + min(first + i, u.X_tiles - 1);
        const int ky = 0, kx = 0;
#include conv_weight_tiles
#if COMPUTED
#include conv_computed_weights
#else
        int entry = t * u.channels.tiles + i;
        TABLE_AT at = weights_begin(entry & ((1 << log2) - 1), entry >> log2);
#for c 4
        PRODUCT vec4 w$c = channel_weights(at, 0, $c);
#endfor
#endif
#include tile_scale
#include scaled_weights
#include point_products
    } while (++i < end);
#else
    for (int i = begin; i < end; i++) {
#include group_own
#include tile_scale
#include conv_weight_tiles
        for (int ky = 0; ky < u.window_y.kernel; ky++) {
            int entry = ((t * u.channels.tiles + i) * u.window_y.kernel + ky) * u.chunks;
            int column = x * STRIDE - u.pad_x, log2 = u.channels.entries_log2;
            tap_row(image * u.X_tiles + min(first + i, u.X_tiles - 1),
                    y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad);
            for (int kx = 0; kx < u.chunks; kx++, entry++, column += DILATION) {
#if COMPUTED
#include conv_computed_weights
#else
                TABLE_AT at = weights_begin(entry & ((1 << log2) - 1), entry >> log2);
#endif
#if DOTS
#include tap_dots
#else
#if COMPUTED == 0
#for c 4
                PRODUCT vec4 w$c = channel_weights(at, 0, $c);
#endfor
#endif
#include scaled_weights
#if SHARED
#include group_products
#else
#include tap_products
#endif
#endif
            }
        }
    }
#endif
#include product_scale
}
