// Computed weights X in the order of a table: see src/algorithm/packed_weights.c. Texel i of the table here tells which elements
// texel i has, as bits: 0x800000 plus the number, or 0 where there is none; 2^width_log2 texels in a row.
#include flat_element
float weight(float place) {
    int i = floatBitsToInt(place) - 0x800000;
    float v = flat_element(max(i, 0));
    return i < 0 ? 0.0 : v;
}
vec4 kernel(int n, int t, int y, int x) {
    int i = y * u.O_W + x;
    vec4 places = table_texel(table_at(i & ((1 << u.width_log2) - 1), i >> u.width_log2), 0);
    return vec4(weight(places.x), weight(places.y), weight(places.z), weight(places.w));
}
