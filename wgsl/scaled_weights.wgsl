// As glsl/scaled_weights.glsl and glsl/tile_scale.glsl, between taps.
#if SCALES == 1 || SCALES == 2
                let tile_scale = weight_scale(t, weight_block(4 * i, ky, kx));
#endif
#if ZEROS == 1 || ZEROS == 2
                let tile_zero = weight_zero(t, weight_block(4 * i, ky, kx));
#endif
#for c 4
#if ZEROS == 3
                w$c -= weight_zero(t, weight_block(4 * i + $c, ky, kx));
#elif ZEROS
                w$c -= tile_zero;
#endif
#if SCALES == 3
                w$c *= weight_scale(t, weight_block(4 * i + $c, ky, kx));
#elif SCALES
                w$c *= tile_scale;
#endif
#endfor
