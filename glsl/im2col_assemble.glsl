// Assembles the output from the partial sums of glsl/conv_im2col.glsl: output pixel (x, y) is pixel (x, y) / phases of its
// phase, summed over the partial sums. In each the pixel is in one plane of its group, at the position of its output tile.
//   groups_y, groups_x           rows, columns of groups in an image
//   group_rows, group_columns    of a group
vec4 kernel(int n, int t, int y, int x) {
    ivec2 phases = ivec2(u.phases_x, u.phases_y), group_size = ivec2(u.group_columns, u.group_rows);
    ivec2 at = tsr_quotient(ivec2(x, y), phases), phase = ivec2(x, y) - at * phases;
    ivec2 group = tsr_quotient(at, group_size), pixel = at - group * group_size;
    int first = ((n * u.groups_y + group.y) * u.groups_x + group.x) * u.partials;
    int row = tsr_quotient(t, u.panel_columns);
    int column = (t - row * u.panel_columns) * u.group_rows * u.group_columns + pixel.y * u.group_columns + pixel.x;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.partials; i++)
        sum += X_fetch(((first + i) * u.phases_y + phase.y) * u.phases_x + phase.x, row, column);
    return sum;
}
