// Adds to `sum` the products of input texel v with the table's weights: of glsl/conv_any.glsl and its transposed kind.
#if SHARED
#for c 4
                sum += mix(vec4(0.0), v[$c] * table_texel(at, $c), own$c);
#endfor
#else
                sum += v.x * table_texel(at, 0) + v.y * table_texel(at, 1) +
                       v.z * table_texel(at, 2) + v.w * table_texel(at, 3);
#endif
