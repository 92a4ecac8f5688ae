// The caller's array or pixels: a table of 1 << u.width_log2 texels in a row, each of four elements. Bytes are fractions
// of 255.
vec4 words4(int i) { return table_texel(table_at(i & ((1 << u.width_log2) - 1), i >> u.width_log2), 0); }
float word(int i) {
    vec4 v = words4(i >> 2);
    int lane = i & 3;
    return lane < 2 ? (lane == 0 ? v.x : v.y) : (lane == 2 ? v.z : v.w);
}
