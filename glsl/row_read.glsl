// Included where `tile` and `line` are a tile of X and one of its rows: reads columns row0, row1, ... from the column given
// to row_begin on. Columns outside the image are read from the texture's last row, which is zero: selecting an address costs
// a quarter of selecting a texel. Addresses stay inside the texture, since texelFetch is undefined outside it.
#if X_LINEAR || X_LOW < X_PLANES
#for i ROW
    vec4 row$i = X_pixel(tile, line, row_first + $i);
#endfor
#else
#if X_FIRST
    bool row_is_first = tile < u.X_first_tiles;
#endif
#if SAMPLE
    float row_zero = 1.0 - 0.5 * u.X_inverse.y;
    vec2 row_origin = (vec2(X_origin(tile) + ivec2(0, line)) + 0.5) * u.X_inverse;
#else
    int row_zero = u.X_zero_row;
    ivec2 row_origin = X_origin(tile) + ivec2(0, line);
#endif
    bool line_inside = line >= 0 && line < u.X_H;
    row_origin.y = line_inside ? row_origin.y : row_zero;
#for i ROW
#if X_FIRST
    ROW_AT at$i = row_is_first ? row_first_at$i : row_at$i;
#else
    ROW_AT at$i = row_at$i;
#endif
#if SAMPLE
    vec4 row$i = X_read_inside(textureLod(
        tsr_source0, vec3(row_origin.x + at$i.x, row_inside$i ? row_origin.y : row_zero, at$i.y), 0.0), row_inside$i && line_inside);
#else
    vec4 row$i = X_read_inside(texelFetch(
        tsr_source0, ivec3(row_origin.x + at$i.x, row_inside$i ? row_origin.y : row_zero, at$i.y), 0), row_inside$i && line_inside);
#endif
#endfor
#endif
