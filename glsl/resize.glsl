// Resampling of rows and columns from a table made on the CPU, so that coordinates are the oracle's to the last bit.
// Table rows 0 and 1: for each output column TAPS input columns and their weights; 2 and 3: for each output row.
//   OUTSIDE 1: a first index below 0 means that the output lies outside
uniform vec4 value; // x: what lies outside
vec4 kernel(int n, int t, int y, int x) {
    int k = n * A_grid.x + t;
    vec4 columns = table_texel(table_at(x, 0), 0), column_weights = table_texel(table_at(x, 1), 0);
    vec4 rows = table_texel(table_at(y, 2), 0), row_weights = table_texel(table_at(y, 3), 0);
#if OUTSIDE
    if (min(columns.x, rows.x) < 0.0)
        return value.xxxx;
#endif
#if TAPS == 1
    return A_fetch(k, int(rows.x), int(columns.x));
#else
    vec4 sum = vec4(0.0);
    for (int i = 0; i < TAPS; i++) {
        vec4 row = vec4(0.0);
        for (int j = 0; j < TAPS; j++)
            row += column_weights[j] * A_fetch(k, int(rows[i]), int(columns[j]));
        sum += row_weights[i] * row;
    }
    return sum;
#endif
}
