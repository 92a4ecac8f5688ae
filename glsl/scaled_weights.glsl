// Subtracts the zero points of output tile t from weights w0 to w3 of the input tile i of a group at tap (ky, kx), and multiplies
// them by its scales.
#if SCALES == 2
                vec4 tile_scale = weight_scale(t, weight_block(4 * i, ky, kx));
#endif
#if ZEROS == 2
                vec4 tile_zero = weight_zero(t, weight_block(4 * i, ky, kx));
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
