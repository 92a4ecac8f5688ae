// Multiplies weights w0 to w3 of the input tile i of a group at tap (ky, kx) by the scales of output tile t.
#if SCALES == 2
                vec4 tile_scale = weight_scale(t, 4 * i, ky, kx);
#endif
#for c 4
#if SCALES == 3
                w$c *= weight_scale(t, 4 * i + $c, ky, kx);
#elif SCALES
                w$c *= tile_scale;
#endif
#endfor
