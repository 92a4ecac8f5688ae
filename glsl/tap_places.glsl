// Included in glsl/conv_uniform_block.glsl: its loops for GPUs that keep few registers and pay for every instruction beside the
// products. Taps of a row are the outermost loop, TRIP at a time: the places of the columns that they read depend on neither row
// nor tile. The innermost loop runs over the kernel's rows that are inside the image. So a fetch needs one addition of floats.
// Texels are sampled without filtering; columns outside the image at 2 or more along the texture's rows, which is clamped to its
// last row: that is zero.
//   TRIP   divides the taps of a row
// Requires X_STRIDE 1, X_PLANES 1 or 2, X_FIRST 0.
// What is kept across which loop, and what is computed again in it, decides whether Mesa's compiler for Midgard spills: after a
// change run tools/phones.sh --check. The first fetch's place is computed before the loop's end is tested, as that is free.
#if TRIP == TAPS
    const int kx = 0;
    {
#else
    for (int kx = 0; kx < u.taps; kx += TRIP) {
#endif
        int column = x * STRIDE - u.pad_x + kx * DILATION;
#for m (PIXELS - 1) * STRIDE + (TRIP - 1) * DILATION + 1
        vec2 place$m = tap_place(column + $m);
#endfor
#if X_PLANES == 1
        const float plane0 = 0.0;
#elif TRIP == 1
        float plane0 = float(column & 1), plane1 = 1.0 - plane0;
#endif
        for (int i = 0; i < u.tiles; i++) {
            int line = y * ROW_STRIDE - u.pad_y, ky = (max(-line, 0) + ${ROW_DILATION - 1}) / ROW_DILATION;
            int tile_at = begin + 4 * kx + i * u.rows * ${4 * TAPS}, at = tile_at + ky * ${4 * TAPS};
            int end = tile_at + min(u.rows, (u.X_H - line + ${ROW_DILATION - 1}) / ROW_DILATION) * ${4 * TAPS};
            vec2 from = (vec2(X_origin(first + i)) + vec2(0.5, float(line + ky * ROW_DILATION) + 0.5)) * u.X_inverse;
            for (;; at += ${4 * TAPS}, from.y += ${ROW_DILATION}.0 * u.X_inverse.y) {
                vec2 at0 = from + place0;
                if (at >= end)
                    break;
#if X_PLANES == 2 && TRIP > 1
                float plane0 = float(column & 1), plane1 = 1.0 - plane0;
#endif
#for m (PIXELS - 1) * STRIDE + (TRIP - 1) * DILATION
                vec2 at${m + 1} = from + place${m + 1};
#endfor
#for k TRIP
                {
#for c 4
                    vec4 w$c = block[at + ${4 * k + c}];
#endfor
#for j PIXELS
                    {
                        // Compilers read a column once.
                        vec4 a = X_read_inside(textureLod(
                            tsr_source0, vec3(at${j * STRIDE + k * DILATION}, plane${(j * STRIDE + k * DILATION) % X_PLANES}), 0.0),
                            place${j * STRIDE + k * DILATION}.y < 1.0);
#include product_sum
                    }
#endfor
                }
#endfor
            }
        }
    }
