// As glsl/group_sum.glsl, with the table's texels from w on.
#for c 4
                var w$c = table_texel(w + $c);
#endfor
#include scaled_weights
#if SHARED
#for c 4
                sum += select(vec4f(), v[$c] * w$c, own$c);
#endfor
#else
                sum += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
#endif
