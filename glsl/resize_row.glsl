// Resampling where the pixels of a fragment share the columns that they read (glsl/row.glsl): these are resampled along
// rows once, then each pixel is a weighted sum of them. The table is made on the CPU, as that of glsl/resize.glsl:
//   row 0        for each fragment of a row, the weights of its PLANES pixels in the first column, in the second, ...
//   row 1        x: the first column
//   rows 2, 3    for each output row ROW_TAPS input rows, their weights
//   ROW          the columns of a fragment
#include row

void kernel_row(int n, int t, int y, int x) {
    int tile = n * u.X_tiles + t, fragment = x / PLANES;
    vec4 rows = table_texel(table_at(y, 2), 0), row_weights = table_texel(table_at(y, 3), 0);
#for i ROW
    vec4 sum$i = vec4(0.0);
#endfor
    row_begin(int(table_texel(table_at(fragment, 1), 0).x));
    for (int tap = 0; tap < ROW_TAPS; tap++) {
        int line = int(rows[tap]);
#include row_read
#for i ROW
        sum$i += row_weights[tap] * row$i;
#endfor
    }
#for j PLANES
    v$j = vec4(0.0);
#endfor
    TABLE_AT at = table_at(fragment * ${ROW * ((PLANES + 3) / 4)}, 0);
    vec4 weights;
// A select, since infinity in a column that the pixel does not read times 0 is NaN.
#for i ROW
#for j PLANES
#if j % 4 == 0
    weights = table_texel(at, ${i * ((PLANES + 3) / 4) + j / 4});
#endif
    v$j += weights[${j % 4}] == 0.0 ? vec4(0.0) : weights[${j % 4}] * sum$i;
#endfor
#endfor
}
