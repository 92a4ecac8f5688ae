// As glsl/group_sum.glsl, with the table's texels from w on.
#for c 4
                var w$c = table_texel(w + $c);
#endfor
#if SCALES == 1 || SCALES == 2
                let tile_scale = weight_scale(t, 4 * i, ky, kx);
#endif
#for c 4
#if SCALES == 3
                w$c *= weight_scale(t, 4 * i + $c, ky, kx);
#elif SCALES
                w$c *= tile_scale;
#endif
#endfor
#if SHARED
#for c 4
                sum += select(vec4f(), v[$c] * w$c, own$c);
#endfor
#else
                sum += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
#endif
