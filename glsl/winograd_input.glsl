// Winograd's input transform: row y, or image n, is the block of a partial sum, set and group of tiles, texel x is (input
// tile, tile of the group): src/algorithm/conv_winograd.c. A set is a phase and a position of the transformed tile.
//   POSITIONS                    rows and columns of a transformed tile
//   groups_y, groups_x           rows, columns of groups in an image
//   group_rows, group_columns    of a group
//   phases_y, phases_x           rows, columns of phases
//   input_tiles                  of the image of each pixel modulo the strides
//   partials, partial_tiles      partial sums, input tiles of one; sum_tiles: of all
//   pad_y, pad_x                 by which a tile begins before its pixels; less phase_pad, plus the phase, divided by the
//                                phases
// A position is the sum (sign 1) or difference (-1) of two pixels of a row or column; 0: the first alone.
ivec3 transform(int k) {
#if POSITIONS == 3
    return k == 0 ? ivec3(0, 1, -1) : k == 1 ? ivec3(1, 1, 0) : ivec3(1, 2, -1);
#else
    return k == 0 ? ivec3(0, 2, -1) : k == 1 ? ivec3(1, 2, 1) : k == 2 ? ivec3(2, 1, -1) : ivec3(1, 3, -1);
#endif
}

vec4 combine(vec4 a, vec4 b, int sign) { return sign > 0 ? a + b : a - b; }

vec4 kernel(int n, int t, int y, int x) {
    int sets = u.phases_y * u.phases_x * ${POSITIONS * POSITIONS}, pixels = u.group_rows * u.group_columns;
    int block = n + y, partial = tsr_quotient(block, sets), set = block - partial * sets, phase = set / ${POSITIONS * POSITIONS};
    int group = tsr_quotient(partial, u.partials), row = tsr_quotient(group, u.groups_x), image = tsr_quotient(row, u.groups_y);
    int tile = tsr_quotient(x, pixels), pixel = x - tile * pixels, k = (partial - group * u.partials) * u.partial_tiles + tile;
    if (tile >= u.partial_tiles || k >= u.sum_tiles)
        return vec4(0.0);
    int pixel_y = tsr_quotient(pixel, u.group_columns), phase_y = tsr_quotient(phase, u.phases_x);
    int at_y = (row - image * u.groups_y) * u.group_rows + pixel_y;
    int at_x = (group - row * u.groups_x) * u.group_columns + pixel - pixel_y * u.group_columns;
    int pad_y = u.pad_y - tsr_quotient(phase_y + u.phase_pad_y, u.phases_y);
    int pad_x = u.pad_x - tsr_quotient(phase - phase_y * u.phases_x + u.phase_pad_x, u.phases_x);
    int modulo = tsr_quotient(k, u.input_tiles), modulo_y = tsr_quotient(modulo, u.stride_x);
    int first_y = 2 * at_y * u.stride_y + modulo_y - pad_y;
    int first_x = 2 * at_x * u.stride_x + modulo - modulo_y * u.stride_x - pad_x;
    ivec3 rows = transform(set / POSITIONS % POSITIONS), columns = transform(set % POSITIONS);
    k += (image - modulo) * u.input_tiles;
    ivec2 line = first_y + rows.xy * u.stride_y, column = first_x + columns.xy * u.stride_x;
    vec4 v = X_pixel(k, line.x, column.x);
    if (columns.z != 0)
        v = combine(v, X_pixel(k, line.x, column.y), columns.z);
    if (rows.z != 0) {
        vec4 other = X_pixel(k, line.y, column.x);
        if (columns.z != 0)
            other = combine(other, X_pixel(k, line.y, column.y), columns.z);
        v = combine(v, other, rows.z);
    }
    return v;
}
