// Of a pixel's channels, x: their maximum or less, by 1 at most; y: the sum of exp(a - x). Both in one go: where a
// channel exceeds what the sum counts from by more than 1, the sum is scaled to count from there.
#if A_SAME // of a single tile
#define TILE(u) A_own(n, u, y, x)
#else
#define TILE(u) A_cell(n * A_grid.x + u, y, place.x, place.y)
#endif
const float LOWEST = -3.402823466e38;
vec4 kernel(int n, int t, int y, int x) {
    ivec2 place = A_place(x);
    vec4 origin = vec4(LOWEST), sum = vec4(0.0); // of every fourth channel
    for (int u = 0; u < A_grid.x; u++) {
        vec4 v = TILE(u);
        bvec4 holds = lessThan(ivec4(4 * u) + ivec4(0, 1, 2, 3), ivec4(A_size.y));
        vec4 above = mix(vec4(LOWEST), v - origin, holds);
        bvec4 moves = greaterThan(above, vec4(1.0));
        vec4 e = tsr_exp(mix(above, -above, moves), vec2(0.0));
        sum = mix(sum + e, sum * e + 1.0, moves);
        origin = mix(origin, v, moves);
    }
    float most = max(max(origin.x, origin.y), max(origin.z, origin.w));
    sum *= tsr_exp(origin - most, vec2(0.0));
    return vec4(most, sum.x + sum.y + (sum.z + sum.w), 0.0, 0.0);
}
