// As glsl/group_sum.glsl, with the table's texels from w on.
#if SHARED
#for c 4
                sum += select(vec4f(), v[$c] * table_texel(w + $c), own$c);
#endfor
#else
                sum += v.x * table_texel(w) + v.y * table_texel(w + 1) + v.z * table_texel(w + 2) + v.w * table_texel(w + 3);
#endif
