// Included in glsl/conv_uniform_block.glsl: its loops over taps for GPUs that keep few registers and pay for every instruction
// beside the products. The places of the columns that a kernel row reads do not depend on row and tile: they are computed before
// those loops, in floats, so that a fetch needs one addition. Texels are sampled without filtering; rows and columns outside the
// image at 2 or more along the texture's rows, which is clamped to its last row: that is zero.
//   COLUMNS   from the first to the last column that a kernel row reads
// Requires X_STRIDE 1, X_PLANES 1 or 2. Which variables live across which loop decides whether Mesa's compiler for Midgard
// spills: after a change ask tools/phones.sh --check.
    {
        int column = x * STRIDE - u.pad_x, at = 0;
#for i COLUMNS
        vec2 place$i = vec2(float((column + $i) >> ${X_PLANES - 1}) * u.X_inverse.x, uint(column + $i) < uint(u.X_W) ? 0.0 : 2.0);
#endfor
#if X_PLANES == 2
        float plane0 = float(column & 1), plane1 = 1.0 - plane0;
#else
        const float plane0 = 0.0;
#endif
        for (int i = 0; i < u.tiles; i++) {
            vec2 origin = (vec2(X_origin(first + i)) + 0.5) * u.X_inverse;
            int ky = 0;
            for (int row_end = at + u.rows * ${4 * TAPS}; at < row_end; at += ${4 * TAPS}, ky++) {
                int line = y * ROW_STRIDE + ky * ROW_DILATION - u.pad_y;
                vec2 from = vec2(origin.x, uint(line) < uint(u.X_H) ? origin.y + float(line) * u.X_inverse.y : 2.0);
#for k TAPS
                {
#for c 4
                    vec4 w$c = block[at + ${4 * k + c}];
#endfor
#for j PIXELS
                    {
                        vec4 a = textureLod(tsr_source0, vec3(from + place${j * STRIDE + k * DILATION},
                                                              plane${(j * STRIDE + k * DILATION) % X_PLANES}), 0.0);
#include product_sum
                    }
#endfor
                }
#endfor
            }
        }
    }
