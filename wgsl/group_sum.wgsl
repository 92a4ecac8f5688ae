// As glsl/group_sum.glsl, with the table's texels from w on.
#if SHARED
#for c 4
                sum += select(vec4f(), v[$c] * table[w + $c], own$c);
#endfor
#else
                sum += v.x * table[w] + v.y * table[w + 1] + v.z * table[w + 2] + v.w * table[w + 3];
#endif
