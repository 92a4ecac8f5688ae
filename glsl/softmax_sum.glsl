// Of a pixel's channels, x: the maximum; y: the sum of exp(a - maximum).
vec4 kernel(int n, int t, int y, int x) {
    ivec2 place = A_place(x);
    vec4 most = vec4(-3.402823466e38), sum = vec4(0.0);
#define EACH_TILE(keep)                                                                                               \
    for (int u = 0; u < A_grid.x; u++) {                                                                              \
        vec4 v = A_cell(n * A_grid.x + u, y, place.x, place.y);                                                       \
        bvec4 holds = lessThan(ivec4(4 * u) + ivec4(0, 1, 2, 3), ivec4(A_size.y));                                    \
        keep;                                                                                                         \
    }
    EACH_TILE(most = mix(most, max(most, v), holds))
    float maximum = max(max(most.x, most.y), max(most.z, most.w));
    EACH_TILE(sum = mix(sum, sum + tsr_exp(v - maximum, vec2(0.0)), holds))
    return vec4(maximum, sum.x + sum.y + (sum.z + sum.w), 0.0, 0.0);
}
