// The pixels of Winograd's tiles from their products, which glsl/conv_window.glsl left in parts: pixel (x, y) is pixel
// (x, y) / strides of its phase, which is in tile (x, y) / 2 of that phase.
//   POSITIONS   rows and columns of the products of a tile
uniform ivec4 groups; // rows, columns of groups in an image, rows, columns of a group
uniform ivec4 parts; // phases of rows and columns, slices, columns of a part
// What position k counts in a tile's first or second row or column.
float factor(int pixel, int k) {
    return pixel == 0 ? (k < POSITIONS - 1 ? 1.0 : 0.0) : k == 0 ? 0.0 : k == 1 ? 1.0 : -1.0;
}
vec4 kernel(int n, int t, int y, int x) {
    ivec2 at = ivec2(x, y) / parts.yx, phase = ivec2(x, y) - at * parts.yx;
    ivec2 tile = at / 2, group = tile / groups.wz, own = tile - group * groups.wz;
    int first = ((n * groups.x + group.y) * groups.y + group.x) * parts.z;
    int row = t / parts.w, column = (t - row * parts.w) * groups.z * groups.w + own.y * groups.w + own.x;
    vec4 sum = vec4(0.0);
    for (int ky = 0; ky < POSITIONS; ky++)
        for (int kx = 0; kx < POSITIONS; kx++) {
            float f = factor(at.y - 2 * tile.y, ky) * factor(at.x - 2 * tile.x, kx);
            for (int slice = 0; slice < parts.z && f != 0.0; slice++) {
                int set = ((phase.y * parts.y + phase.x) * POSITIONS + ky) * POSITIONS + kx;
                int part = (first + slice) * (parts.x * parts.y * POSITIONS * POSITIONS) + set;
                sum += f * A_fetch(part, row, column);
            }
        }
    return sum;
}
