// Depthwise convolution. As glsl/conv_direct.glsl, with one texel of weights per tap.
//   PLACES   1: with ROW 0 inputs stored so that it applies are read as in glsl/tap_places.glsl
//   table    entry (t * kernel height + ky) * chunks + chunk: TAPS texels, 2^entries_log2 entries in a row
#if ROW
#include row
#else
#include tap
#endif

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
#endfor
    int tile = n * u.X_tiles + t;
#if ZEROS
    vec4 zero = S_fetch(t, 0, 0);
#define WEIGHT(at, i) (table_texel(at, i) - zero)
#else
#define WEIGHT(at, i) table_texel(at, i)
#endif
#if ROW
    int chunk = 0;
    do {
        row_begin(x * STRIDE - u.pad_x + chunk * ${TAPS * DILATION});
        int ky = 0; // tested at the end, as in glsl/conv_direct.glsl
        do {
            int line = y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad;
            if (line >= 0 && line < u.X_H) {
#include row_read
                int entry = (t * u.window_y.kernel + ky) * u.chunks + chunk;
                TABLE_AT at = table_at((entry & ((1 << u.entries_log2) - 1)) * TAPS, entry >> u.entries_log2);
#for k TAPS
                {
                    vec4 w = WEIGHT(at, $k);
#for j PLANES
                    v$j += row${j * STRIDE + k * DILATION} * w;
#endfor
                }
#endfor
            }
        } while (++ky < u.window_y.kernel);
    } while (++chunk < u.chunks);
#elif PLACES && X_STRIDE == 1 && X_FIRST == 0 && X_PLANES <= 2 && X_LINEAR == 0 && X_LOW == X_PLANES
    for (int chunk = 0; chunk < u.chunks; chunk++) {
        int column = x * STRIDE - u.pad_x + chunk * ${TAPS * DILATION};
#for m (PLANES - 1) * STRIDE + (TAPS - 1) * DILATION + 1
        vec2 place$m = tap_place(column + $m);
#endfor
        float plane0 = float(column & ${X_PLANES - 1}), plane1 = 1.0 - plane0;
        int line = y * u.window_y.stride - u.window_y.pad, dilation = u.window_y.dilation;
        int ky = (max(-line, 0) + dilation - 1) / dilation, begin = t * u.window_y.kernel * u.chunks + chunk;
        int end = begin + min(u.window_y.kernel, (u.X_H - line + dilation - 1) / dilation) * u.chunks;
        vec2 from = (vec2(X_origin(tile) + ivec2(0, line + ky * dilation)) + 0.5) * u.X_inverse;
        for (int entry = begin + ky * u.chunks; entry < end; entry += u.chunks, from.y += float(dilation) * u.X_inverse.y) {
            TABLE_AT at = table_at((entry & ((1 << u.entries_log2) - 1)) * TAPS, entry >> u.entries_log2);
#for k TAPS
            {
                vec4 w = WEIGHT(at, $k);
#for j PLANES
                v$j += X_read_inside(
                    textureLod(tsr_source0, vec3(from + place${j * STRIDE + k * DILATION}, plane${(j * STRIDE + k * DILATION) % X_PLANES}), 0.0),
                    place${j * STRIDE + k * DILATION}.y < 1.0) * w;
#endfor
            }
#endfor
        }
    }
#else
    for (int ky = 0; ky < u.window_y.kernel; ky++) {
        int entry = (t * u.window_y.kernel + ky) * u.chunks, column = x * STRIDE - u.pad_x;
        tap_row(tile, y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad);
        for (int chunk = 0; chunk < u.chunks; chunk++, entry++, column += ${TAPS * DILATION}) {
            TABLE_AT at = table_at((entry & ((1 << u.entries_log2) - 1)) * TAPS, entry >> u.entries_log2);
#if STRIDE == 1 && DILATION == 1
#for j PLANES-1
            vec4 a$j = tap_texel(column + $j);
#endfor
#for k TAPS
            vec4 w$k = WEIGHT(at, $k), a${k + PLANES - 1} = tap_texel(column + ${k + PLANES - 1});
#for j PLANES
            v$j += a${j + k} * w$k;
#endfor
#endfor
#else
#for k TAPS
            vec4 w$k = WEIGHT(at, $k);
#for j PLANES
            v$j += tap_texel(column + ${j * STRIDE + k * DILATION}) * w$k;
#endfor
#endfor
#endif
        }
    }
#endif
}
