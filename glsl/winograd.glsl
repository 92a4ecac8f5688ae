// Transforms the input tiles of Winograd's convolution: row y is the block of a slice, set and group of tiles, texel x its
// (input tile, tile of the group): src/gles/winograd.h. A set is a phase and a position of the transformed tile.
// What divides is known when this compiles.
//   POSITIONS            rows and columns of a transformed tile
//   GROUPS_Y, GROUPS_X   rows, columns of groups in an image
//   GROUP_Y, GROUP_X     rows, columns of a group
//   PHASES_Y, PHASES_X   rows, columns of phases
//   INPUT_TILES          of the image of each pixel modulo the strides
//   STRIDE_X             of columns
//   SLICES, SLICE        of a sum, input tiles of one
uniform ivec4 sum; // input tiles of all slices, stride of rows
uniform ivec4 pads; // by which a tile begins before its pixels; less this, plus the phase, divided by the phases
// The two pixels of a row or column whose sum (sign 1) or difference a position is; 0: the first alone.
ivec3 transform(int k) {
#if POSITIONS == 3
    return k == 0 ? ivec3(0, 1, -1) : k == 1 ? ivec3(1, 1, 0) : ivec3(1, 2, -1);
#else
    return k == 0 ? ivec3(0, 2, -1) : k == 1 ? ivec3(1, 2, 1) : k == 2 ? ivec3(2, 1, -1) : ivec3(1, 3, -1);
#endif
}
vec4 two(vec4 a, vec4 b, int sign) { return sign > 0 ? a + b : a - b; }
vec4 kernel(int n, int t, int y, int x) {
    const int sets = PHASES_Y * PHASES_X * POSITIONS * POSITIONS, pixels = GROUP_Y * GROUP_X;
    int part = y / sets, set = y - part * sets, phase = set / (POSITIONS * POSITIONS);
    int group = part / SLICES, row = group / GROUPS_X, image = row / GROUPS_Y;
    int tile = x / pixels, pixel = x - tile * pixels, k = (part - group * SLICES) * SLICE + tile;
    if (tile >= SLICE || k >= sum.x)
        return vec4(0.0);
    ivec2 at = ivec2((group - row * GROUPS_X) * GROUP_X + pixel % GROUP_X,
                     (row - image * GROUPS_Y) * GROUP_Y + pixel / GROUP_X);
    ivec2 pad = pads.yx - ivec2((phase % PHASES_X + pads.w) / PHASES_X, (phase / PHASES_X + pads.z) / PHASES_Y);
    int modulo = k / INPUT_TILES;
    ivec2 first = 2 * at * ivec2(STRIDE_X, sum.y) + ivec2(modulo % STRIDE_X, modulo / STRIDE_X) - pad;
    ivec3 rows = transform(set / POSITIONS % POSITIONS), columns = transform(set % POSITIONS);
    k += (image - modulo) * INPUT_TILES;
#define READ(i, j) A_pixel(k, first.y + i * sum.y, first.x + j * STRIDE_X)
    vec4 v = READ(rows.x, columns.x);
    if (columns.z != 0)
        v = two(v, READ(rows.x, columns.y), columns.z);
    if (rows.z != 0) {
        vec4 other = READ(rows.y, columns.x);
        if (columns.z != 0)
            other = two(other, READ(rows.y, columns.y), columns.z);
        v = two(v, other, rows.z);
    }
    return v;
}
