// Included in a loop over taps at column `column`, with DOTS: as glsl/tap_products.glsl, but inputs are kept and each texel of
// weights, at `at` of the table, is used as it comes.
#for j PLANES
                vec4 a$j = tap_texel(column + $j * TAP_STEP);
#endfor
#for c 4
                {
                    vec4 w = channel_weights(at, 0, $c);
#for j PLANES
                    v$j[$c] += dot(a$j, w);
#endfor
                }
#endfor
