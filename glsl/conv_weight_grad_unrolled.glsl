// The loops of glsl/conv_weight_grad.glsl where neither X nor G wraps: UNROLL columns of G begin at a multiple of UNROLL, so that
// the columns of X are in the same planes in every trip; those of G may go on to the next planes. What is outside the
// segment is read from the textures' rows of zeros, in both: the other factor may be infinite.
    int whole = u.window_x.pad / ${X_PLANES * X_STRIDE} + 1, begin_column = offset.x + whole * ${X_PLANES * X_STRIDE};
#for k UNROLL + PAIRS
    SUM_AT x_place$k = sum_place(X_place(begin_column + ${k * STRIDE}) - ivec2(whole, 0), u.X_inverse);
#endfor
#for k UNROLL
    SUM_AT g_place$k = sum_place(G_place($k), u.G_inverse);
#endfor
    SUM_NUMBER x_zero = sum_zero(u.X_zero_row, u.X_inverse), g_zero = sum_zero(u.G_zero_row, u.G_inverse);
#include conv_weight_grad_segment
            SUM_AT x_row = sum_row(X_origin(image * u.X_tiles + input_tile) + ivec2(0, iy), u.X_inverse);
#for i (PLANES + 3) / (4 + 4 * PAIRS)
            SUM_AT g_row$i = sum_row(G_origin(image * u.G_tiles + min(tile + $i, u.G_tiles - 1)) + ivec2(0, oy), u.G_inverse);
#endfor
            int ox = from - from % UNROLL;
            do {
                SUM_AT x_trip = sum_trip(ox / UNROLL * ${STRIDE * UNROLL / (X_PLANES * X_STRIDE)}, 0, u.X_inverse);
                SUM_AT g_trip = sum_trip(ox / ${G_PLANES * G_STRIDE}, ox % ${G_PLANES * G_STRIDE} / G_STRIDE, u.G_inverse);
#if PAIRS
#for k UNROLL + 1
                bool reads$k = uint(ox + $k - from) <= uint(to - from) && uint((ox + $k) * STRIDE + offset.x) < uint(u.X_W);
                vec4 a$k = X_read_inside(SUM_READ(tsr_source0, x_row, x_trip, x_place$k, reads$k, x_zero), reads$k);
#endfor
#endif
#for k UNROLL
                {
                    bool inside = uint(ox + $k - from) < uint(to - from);
#if PAIRS
                    vec4 a = a$k, b = a${k + 1};
#else
                    vec4 a = X_read_inside(SUM_READ(tsr_source0, x_row, x_trip, x_place$k, inside, x_zero), inside);
#endif
#for i (PLANES + 3) / (4 + 4 * PAIRS)
                    vec4 g$i = G_read_inside(SUM_READ(tsr_source1, g_row$i, g_trip, g_place$k, inside, g_zero), inside);
#endfor
#include conv_weight_grad_products
                }
#endfor
            } while ((ox += UNROLL) < to);
#include conv_weight_grad_end
