// Antialiased resampling along AXIS (2 H, 3 W) from a table made on the CPU. Column i of the table is for index i of the output:
// x of row 0 the first index of the input, then the weights of 4 * rows elements from it on.
//   OUTSIDE 1: where the first index is below 0, the output is `value`
vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t, i = AXIS == 2 ? y : x, first = int(table_texel(table_at(i, 0), 0).x);
    int last = (AXIS == 2 ? u.X_H : u.X_W) - 1;
#if OUTSIDE
    if (first < 0)
        return vec4(u.value);
#endif
    vec4 sum = vec4(0.0);
    for (int row = 0; row < u.rows; row++) {
        vec4 weights = table_texel(table_at(i, row + 1), 0);
        for (int c = 0; c < 4; c++) {
            int at = min(first + 4 * row + c, last);
            vec4 v = AXIS == 2 ? X_fetch(k, at, x) : X_fetch(k, y, at);
            sum += weights[c] == 0.0 ? vec4(0.0) : weights[c] * v; // 0 times infinity is NaN
        }
    }
    return sum;
}
