// Transposed convolution by output phase, (x + pad) mod stride: the pixels of a fragment are a stride apart (PIXEL_STRIDE
// is STRIDE), so they share a phase and its taps, every STRIDE-th of the kernel. No tap is multiplied by an inserted zero.
//   STRIDE                   of the row (dilation 1)
//   TAPS                     of a phase: kernel width / STRIDE, rounded up; absent ones have zero weights
//   ROW                      PLANES + TAPS - 1, as in glsl/conv_direct.glsl
//   table                    entry (t * tiles + i) * kernel height + ky: 4 * TAPS * STRIDE texels
//                            With ROW 0 a fragment reads tap by tap.
//   kernel_x                 kernel width
//   COMPUTED                 1: no table, but a tensor W of weights: each texel has four output channels of an input channel;
//                            the kernel's width is TAPS * STRIDE
//   channels, GROUPED, SHARED, split as in glsl/conv_direct.glsl
#include product_precision
#include weight_scale
#if COMPUTED
#include weight_texels
#endif
#if ROW
#include row
#else
#include tap
#define TAP_STEP 1
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
#include split_tiles
    // The input pixel of the phase's first tap.
#define INPUT_X ((x + u.pad_x) / STRIDE)
#if ROW
    row_begin(INPUT_X - ${TAPS - 1});
    int first_line = tsr_quotient(y + u.window_y.pad, u.window_y.stride);
    int first_ky = y + u.window_y.pad - first_line * u.window_y.stride;
    // One loop, as in glsl/conv_direct.glsl.
    int i = begin, ky = first_ky, line = first_line;
    do {
        if (line >= 0 && line < u.X_H && ky < u.window_y.kernel) {
#include group_own
#include tile_scale
            int tile = image * u.X_tiles + min(first + i, u.X_tiles - 1);
#include row_read
            int phase_x = x + u.pad_x - INPUT_X * STRIDE; // computed here, it needs no register before
#if COMPUTED
#for c 4
            WEIGHTS_TILE weights$c = weights_tile(min(4 * i + $c, u.W_N - 1) * u.W_tiles + t);
#endfor
#else
            int entry = (t * u.channels.tiles + i) * u.window_y.kernel + ky, log2 = u.channels.entries_log2;
            TABLE_AT at = weights_begin((entry & ((1 << log2) - 1)) * ${TAPS * STRIDE} + phase_x, entry >> log2);
#endif
#for m TAPS
            {
                int kx = phase_x + ${STRIDE * m};
#for c 4
#if COMPUTED
                vec4 w$c = weights_texel(weights$c, ky, kx);
#else
                vec4 w$c = channel_weights(at, ${STRIDE * m}, $c);
#endif
#endfor
#include scaled_weights
#for j PLANES
#for c 4
#if SHARED
                v$j += mix(vec4(0.0), row${j + TAPS - 1 - m}[$c] * w$c, own$c);
#else
                v$j += row${j + TAPS - 1 - m}[$c] * w$c;
#endif
#endfor
#endfor
            }
#endfor
        }
        ky += u.window_y.stride;
        line--;
        if (ky >= u.window_y.kernel) {
            ky = first_ky;
            line = first_line;
            i++;
        }
    } while (i < end);
#else
    for (int i = begin; i < end; i++) {
#include group_own
#include tile_scale
#if COMPUTED
#for c 4
        WEIGHTS_TILE weights$c = weights_tile(min(4 * i + $c, u.W_N - 1) * u.W_tiles + t);
#endfor
#endif
        int line = tsr_quotient(y + u.window_y.pad, u.window_y.stride);
        for (int ky = y + u.window_y.pad - line * u.window_y.stride; ky < u.window_y.kernel; ky += u.window_y.stride, line--) {
            if (line < 0 || line >= u.X_H)
                continue;
            int entry = (t * u.channels.tiles + i) * u.window_y.kernel + ky, log2 = u.channels.entries_log2;
            int column = INPUT_X, phase_x = x + u.pad_x - column * STRIDE; // computed here, they need no registers before
            int weights = (entry & ((1 << log2) - 1)) * ${TAPS * STRIDE} + phase_x;
            tap_row_inside(image * u.X_tiles + min(first + i, u.X_tiles - 1), line);
            for (int kx = phase_x; kx < u.kernel_x; kx += STRIDE, column--) {
#if COMPUTED == 0
                TABLE_AT at = weights_begin(weights, entry >> log2);
                weights += STRIDE;
#endif
#if DOTS
#include tap_dots
#else
#for c 4
#if COMPUTED
                PRODUCT vec4 w$c = weights_texel(weights$c, ky, kx);
#else
                PRODUCT vec4 w$c = channel_weights(at, 0, $c);
#endif
#endfor
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
