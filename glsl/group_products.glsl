// glsl/tap_products.glsl where texels hold channels of several groups: with the masks of glsl/group_own.glsl.
#for j PLANES
                {
                    vec4 a = tap_texel(column + $j * TAP_STEP);
#for c 4
                    v$j += mix(vec4(0.0), a[$c] * w$c, own$c);
#endfor
                }
#endfor
