// Adds to `sum` the products of input texel v with the table's weights: of glsl/conv_any.glsl and its transposed kind.
#for c 4
                vec4 w$c = channel_weights(at, 0, $c);
#endfor
#include scaled_weights
#if SHARED
#for c 4
                sum += mix(vec4(0.0), v[$c] * w$c, own$c);
#endfor
#else
                sum += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
#endif
