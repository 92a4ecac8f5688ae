// Resampling of rows and columns from a table made on the CPU, so that coordinates are the oracle's to the last bit.
//   TAPS       1, 2 or 4
//   table      rows 0 and 1: for each output column TAPS input columns and their weights; 2 and 3: for each output row
//   OUTSIDE    1: a first index below 0 means that the output lies outside
//   u.value    x: what lies outside
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.A_grid.x + t;
    let width = u.table_size.x;
    let columns = vec4i(table[x]);
    let rows = vec4i(table[2 * width + y]);
#if OUTSIDE
    if (columns.x < 0 || rows.x < 0) {
        return u.value.xxxx;
    }
#endif
#if TAPS == 1
    return A_fetch(k, rows.x, columns.x);
#else
    let column_weights = table[width + x];
    let row_weights = table[3 * width + y];
    var sum = vec4f();
#for i TAPS
    var row$i = vec4f();
#for j TAPS
    row$i += column_weights[$j] * A_fetch(k, rows[$i], columns[$j]);
#endfor
    sum += row_weights[$i] * row$i;
#endfor
    return sum;
#endif
}
