// Resampling where the pixels of a fragment share the columns that they read (glsl/row.glsl): these are resampled along
// rows once, and then each pixel takes its share of them. The table is made on the CPU, as that of glsl/resize.glsl:
//   row 0        for each fragment of a row, the weights of its PLANES pixels in the first column, in the second, ...
//   row 1        x: the first column
//   rows 2, 3    for each output row ROW_TAPS input rows, their weights
//   EACH_COLUMN(M), ROW    M(0) .. M(ROW - 1); the columns of a fragment
#define TEXELS ((PLANES + 3) / 4) // of weights, a column

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
    int k = n * A_grid.x + t, fragment = x / PLANES;
    vec4 rows = table_texel(table_at(y, 2), 0), row_weights = table_texel(table_at(y, 3), 0);
    vec4 sums[ROW];
#define ZERO(i) sums[i] = vec4(0.0);
    EACH_COLUMN(ZERO)
    row_begin(int(table_texel(table_at(fragment, 1), 0).x));
    for (int tap = 0; tap < ROW_TAPS; tap++) {
        vec4 row[ROW];
        ROW_READ(row, k, int(rows[tap]))
#define ADD(i) sums[i] += row_weights[tap] * row[i];
        EACH_COLUMN(ADD)
    }
#define START(j, unused) v[j] = vec4(0.0);
    EACH_PLANE(START, 0)
    TABLE_AT at = table_at(fragment * (ROW * TEXELS), 0);
    vec4 weights[TEXELS];
// A select, so that no infinity in a column beside a pixel's own reaches it.
#define SHARE(j, i) v[j] += weights[j / 4][j % 4] == 0.0 ? vec4(0.0) : weights[j / 4][j % 4] * sums[i];
#define COLUMN(i)                                                                                                     \
    for (int texel = 0; texel < TEXELS; texel++)                                                                      \
        weights[texel] = table_texel(at, i * TEXELS + texel);                                                         \
    EACH_PLANE(SHARE, i)
    EACH_COLUMN(COLUMN)
}
