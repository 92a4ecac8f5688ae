// Resampling of rows and columns from a table made on the CPU, so that coordinates are bit-exact those of the CPU backend.
//   COLUMN_TAPS, ROW_TAPS    1, 2 or 4; a single one has no weight
//   table                    rows 0 and 1: for each output column COLUMN_TAPS input columns and their weights; 2 and 3:
//                            for each output row ROW_TAPS input rows
//   OUTSIDE                  1: where a first index is below 0, the output is `value`

// Row y at these columns.
fn resampled(k: i32, y: i32, columns: vec4i, weights: vec4f) -> vec4f {
#if COLUMN_TAPS == 1
    return X_fetch(k, y, columns.x);
#else
    var sum = vec4f();
#for i COLUMN_TAPS
    sum += weights[$i] * X_fetch(k, y, columns[$i]);
#endfor
    return sum;
#endif
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    let width = u.table_width;
    let columns = vec4i(table[x]);
    let rows = vec4i(table[2 * width + y]);
#if OUTSIDE
    if (columns.x < 0 || rows.x < 0) {
        return vec4f(u.value);
    }
#endif
    let column_weights = table[width + x];
#if ROW_TAPS == 1
    return resampled(k, rows.x, columns, column_weights);
#else
    let row_weights = table[3 * width + y];
    var sum = vec4f();
#for i ROW_TAPS
    sum += row_weights[$i] * resampled(k, rows[$i], columns, column_weights);
#endfor
    return sum;
#endif
}
