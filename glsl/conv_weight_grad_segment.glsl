// Begins the loop over the segments of a partial sum: pixels (from, oy) to (to - 1, oy) of image `image` of
// G. glsl/conv_weight_grad_end.glsl ends it.
    int row_units = u.G_H * u.segments, end = min((partial + 1) * u.units, u.G_N * row_units);
    int unit = partial * u.units; // tested at the end, as in glsl/conv_direct.glsl
    do {
        int image = tsr_quotient(unit, row_units), rest = unit - image * row_units;
        int oy = tsr_quotient(rest, u.segments), begin = (rest - oy * u.segments) * u.columns;
        int iy = oy * u.window_y.stride + offset.y, from = max(begin, columns.x), to = min(begin + u.columns, columns.y);
        if (oy >= rows.x && oy < rows.y && from < to) {
#for j PLANES
            vec4 row$j = vec4(0.0);
#endfor
