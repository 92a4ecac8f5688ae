// An input from a GL texture of the caller's, which is bound as the table; its tiles lie as tessera.h says of tsr_texture.
uniform ivec4 columns; // tiles side by side
uniform vec4 map; // factor, summand
vec4 kernel(int n, int t, int y, int x) {
    int k = n * O_grid.x + t, row = k / columns.x;
    return texelFetch(table, ivec2((k - row * columns.x) * O_size.w + x, row * O_size.z + y), 0) * map.x + map.y;
}
