// An input from a GL texture of the caller's, which is bound as the table. tsr_texture of tessera.h documents the layout;
// `columns` tiles are in a row. Each element becomes element * factor + summand.
vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.O_tiles + t, row = tsr_quotient(k, u.columns);
    return texelFetch(table, ivec2((k - row * u.columns) * u.O_W + x, row * u.O_H + y), 0) * u.factor + u.summand;
}
