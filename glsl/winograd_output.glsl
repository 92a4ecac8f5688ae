// Winograd's output transform of the results of glsl/conv_im2col.glsl: output pixel (x, y) is pixel (x, y) / phases of its
// phase, which is in tile (x, y) / phases / 2 of that phase.
//   POSITIONS    rows and columns of a transformed tile
//   others       as in glsl/im2col_assemble.glsl, of tiles
// The factor of position k for a tile's first or second row or column.
float factor(int pixel, int k) {
    return pixel == 0 ? (k < ${POSITIONS - 1} ? 1.0 : 0.0) : k == 0 ? 0.0 : k == 1 ? 1.0 : -1.0;
}

vec4 kernel(int n, int t, int y, int x) {
    ivec2 phases = ivec2(u.phases_x, u.phases_y), group_size = ivec2(u.group_columns, u.group_rows);
    ivec2 at = tsr_quotient(ivec2(x, y), phases), phase = ivec2(x, y) - at * phases;
    ivec2 tile = at / 2, group = tsr_quotient(tile, group_size), inner = tile - group * group_size;
    int first = ((n * u.groups_y + group.y) * u.groups_x + group.x) * u.partials;
    int row = tsr_quotient(t, u.panel_columns);
    int column = (t - row * u.panel_columns) * u.group_rows * u.group_columns + inner.y * u.group_columns + inner.x;
    vec4 sum = vec4(0.0);
    for (int ky = 0; ky < POSITIONS; ky++)
        for (int kx = 0; kx < POSITIONS; kx++) {
            float f = factor(at.y - 2 * tile.y, ky) * factor(at.x - 2 * tile.x, kx);
            for (int i = 0; i < u.partials && f != 0.0; i++) {
                int set = ((phase.y * u.phases_x + phase.x) * POSITIONS + ky) * POSITIONS + kx;
                int partial = (first + i) * (u.phases_y * u.phases_x * ${POSITIONS * POSITIONS}) + set;
                sum += f * X_fetch(partial, row, column);
            }
        }
    return sum;
}
