// Included where `tile` and `line` are a tile of X and one of its rows: reads columns row0, row1, ... from the column given
// to row_begin on. Columns outside the image are read from the texture's last row, which is zero: selecting an address costs
// a quarter of selecting a texel. Addresses stay inside the texture, since texelFetch is undefined outside it.
#if X_LINEAR || X_LOW < X_PLANES
#for i ROW
    vec4 row$i = X_pixel(tile, line, row_first + $i);
#endfor
#elif SAMPLE
    float row_zero = 1.0 - 0.5 * u.X_inverse.y;
    vec2 row_origin = (vec2(X_origin(tile) + ivec2(0, line)) + 0.5) * u.X_inverse;
    row_origin.y = line >= 0 && line < u.X_H ? row_origin.y : row_zero;
#for i ROW
    vec4 row$i = textureLod(
        tsr_source0, vec3(row_origin.x + row_at$i.x, row_inside$i ? row_origin.y : row_zero, row_at$i.y), 0.0);
#endfor
#else
    int row_zero = textureSize(tsr_source0, 0).y - 1;
    ivec2 row_origin = X_origin(tile) + ivec2(0, line);
    row_origin.y = line >= 0 && line < u.X_H ? row_origin.y : row_zero;
#for i ROW
    vec4 row$i = texelFetch(
        tsr_source0, ivec3(row_origin.x + row_at$i.x, row_inside$i ? row_origin.y : row_zero, row_at$i.y), 0);
#endfor
#endif
