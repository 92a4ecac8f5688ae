// Columns of input one at a time, for kernels that loop over taps: a fragment then holds one texel of input, not the row of
// glsl/row.glsl. tap_row() opens a row of a tile, tap_row_inside() one that is inside the image, tap_texel()
// reads a column of it, zero outside the image, as glsl/row_read.glsl does.
#if X_LINEAR || X_LOW < X_PLANES
ivec2 tap_at; // tile, line
void tap_row_inside(int tile, int line) { tap_at = ivec2(tile, line); }
void tap_row(int tile, int line) { tap_row_inside(tile, line); }
vec4 tap_texel(int x) { return X_pixel(tap_at.x, tap_at.y, x); }
#else
ivec2 tap_origin;
int tap_width; // columns of the row, 0 outside the image
#if X_FIRST
uint tap_log2, tap_part; // of the tile's pixel stride, a power of two; columns from one pixel of a stride to the next
#define TAP_LOG2(stride) uint(stride == 8 ? 3 : stride == 4 ? 2 : stride - 1)
#endif
void tap_row_inside(int tile, int line) {
#if X_FIRST
    tap_log2 = tile < u.X_first_tiles ? TAP_LOG2(X_FIRST) : TAP_LOG2(X_STRIDE);
    tap_part = uint(u.X_tile_width) >> tap_log2;
#endif
    tap_origin = X_origin(tile) + ivec2(0, line);
    tap_width = u.X_W;
}
void tap_row(int tile, int line) {
    tap_row_inside(tile, line);
    tap_width = line >= 0 && line < u.X_H ? tap_width : 0;
}
vec4 tap_texel(int x) {
    bool inside = uint(x) < uint(tap_width);
    uint column = uint(x); // as X_place(): unsigned, constants become shifts
#if X_FIRST
    uint group = column >> tap_log2, within = (column - (group << tap_log2)) * tap_part + group / uint(X_PLANES);
#else
    uint group = column / uint(X_STRIDE);
    uint within = column % uint(X_STRIDE) * (uint(u.X_tile_width) / uint(X_STRIDE)) + column / ${X_STRIDE * X_PLANES}u;
#endif
    int plane = int(group % uint(X_PLANES));
    ivec2 at = ivec2(inside ? tap_origin.x + int(within) : 0, inside ? tap_origin.y : u.X_zero_row);
#if SAMPLE
    return X_read_inside(textureLod(tsr_source0, vec3((vec2(at) + 0.5) * u.X_inverse, plane), 0.0), inside);
#else
    return X_read_inside(texelFetch(tsr_source0, ivec3(at, plane), 0), inside);
#endif
}
#endif
// Of the loops of glsl/tap_places.glsl: what a column adds to the coordinates of column 0.
vec2 tap_place(int x) {
    return vec2(float(x >> ${X_PLANES - 1}) * u.X_inverse.x, uint(x) < uint(u.X_W) ? 0.0 : 2.0);
}
