// Resampling of rows and columns from a table made on the CPU, so that coordinates are bit-exact those of the CPU backend.
// Table rows 0 and 1: for each output column COLUMN_TAPS input columns and their weights; 2 and 3: for each output row
// ROW_TAPS input rows. A single one has no weight.
//   OUTSIDE 1: where a first index is below 0, the output is `value`

// Row y at these columns.
vec4 resampled(int k, int y, vec4 columns, vec4 weights) {
#if COLUMN_TAPS == 1
    return X_fetch(k, y, int(columns.x));
#else
    vec4 sum = vec4(0.0);
    for (int i = 0; i < COLUMN_TAPS; i++)
        sum += weights[i] * X_fetch(k, y, int(columns[i]));
    return sum;
#endif
}

vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
    vec4 columns = table_texel(table_at(x, 0), 0), column_weights = table_texel(table_at(x, 1), 0);
    vec4 rows = table_texel(table_at(y, 2), 0), row_weights = table_texel(table_at(y, 3), 0);
#if OUTSIDE
    if (min(columns.x, rows.x) < 0.0)
        return vec4(u.value);
#endif
#if ROW_TAPS == 1
    return resampled(k, int(rows.x), columns, column_weights);
#else
    vec4 sum = vec4(0.0);
    for (int i = 0; i < ROW_TAPS; i++)
        sum += row_weights[i] * resampled(k, int(rows[i]), columns, column_weights);
    return sum;
#endif
}
