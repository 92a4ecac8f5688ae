// Computed weights X in the order of a table: see src/algorithm/packed_weights.c. Texel i of the table here tells which elements
// texel i has, as bits: 0x800000 plus the number, or 0 where there is none; 2^width_log2 texels in a row. Often these are four
// input channels: a texel of X.
#include flat_element
float weight(int i) {
    float v = flat_element(max(i, 0));
    return i < 0 ? 0.0 : v;
}
vec4 kernel(int n, int t, int y, int x) {
    int at = (n * u.O_H + y) * u.O_W + x;
    ivec4 i = floatBitsToInt(table_texel(table_at(at & ((1 << u.width_log2) - 1), at >> u.width_log2), 0)) - 0x800000;
    int row = tsr_quotient(max(i.x, 0), u.X_W), plane = tsr_quotient(row, u.X_H), image = tsr_quotient(plane, u.X_C);
    int channel = plane - image * u.X_C, line = row - plane * u.X_H, column = i.x - row * u.X_W;
    ivec3 pixels = u.X_H * u.X_W * ivec3(1, 2, 3);
    if (i.yzw - i.x == pixels && (channel & 3) == 0 && channel + 3 < u.X_C)
        return X_fetch(image * u.X_tiles + (channel >> 2), line, column);
    return vec4(weight(i.x), weight(i.y), weight(i.z), weight(i.w));
}
