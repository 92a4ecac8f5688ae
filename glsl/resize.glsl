// Resampling of rows and columns from a table made on the CPU, so that coordinates are the oracle's to the last bit.
// Table row 0: for each output column (first input column, second, weight of the second, 1 if outside); row 1: rows.
uniform vec4 value; // x: what lies outside
vec4 kernel(int n, int t, int y, int x) {
    int k = n * A_grid.x + t;
    vec4 columns = table_texel(table_at(x, 0), 0), rows = table_texel(table_at(y, 1), 0);
    ivec2 cx = ivec2(columns.xy), cy = ivec2(rows.xy);
#if LINEAR
    vec4 top = mix(A_fetch(k, cy.x, cx.x), A_fetch(k, cy.x, cx.y), columns.z);
    vec4 bottom = mix(A_fetch(k, cy.y, cx.x), A_fetch(k, cy.y, cx.y), columns.z);
    vec4 v = mix(top, bottom, rows.z);
#else
    vec4 v = A_fetch(k, cy.x, cx.x);
#endif
    return columns.w + rows.w > 0.0 ? value.xxxx : v;
}
