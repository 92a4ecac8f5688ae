// The loops of glsl/conv_weight_grad.glsl, one column of G at a time: for every layout.
#include conv_weight_grad_segment
            int ox = from;
            do {
                int ix = ox * u.window_x.stride + offset.x;
#if BLOCK == 1
                row0 += G_at(image, first, oy, ox) * vec4(X_at(image, c.x, iy, ix), X_at(image, c.y, iy, ix),
                                                          X_at(image, c.z, iy, ix), X_at(image, c.w, iy, ix));
#else
#if PAIRS
                vec4 a = X_pixel(image * u.X_tiles + input_tile, iy, ix);
                vec4 b = X_pixel(image * u.X_tiles + input_tile, iy, ix + STRIDE);
#else
                vec4 a = X_fetch(image * u.X_tiles + input_tile, iy, ix);
#endif
#for i (PLANES + 3) / (4 + 4 * PAIRS)
                vec4 g$i = G_fetch(image * u.G_tiles + min(tile + $i, u.G_tiles - 1), oy, ox);
#endfor
#include conv_weight_grad_products
#endif
            } while (++ox < to);
#include conv_weight_grad_end
