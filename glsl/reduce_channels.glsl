// The reduction of the channels of each pixel to one. Sums of 64 are added up, which keeps rounding errors small.
//   factor   of the result
#include combine
vec4 kernel(int n, int t, int y, int x) {
    vec4 total = NOTHING, sum = NOTHING;
    for (int tile = 0; tile < u.X_tiles; tile++) {
        bvec4 holds = lessThan(4 * tile + ivec4(0, 1, 2, 3), ivec4(u.X_C));
        sum = combine(sum, mix(NOTHING, mapped(X_fetch(n * u.X_tiles + tile, y, x)), holds));
        if (tile % 16 == 15) {
            total = combine(total, sum);
            sum = NOTHING;
        }
    }
    total = combine(total, sum);
    vec4 pairs = combine(total, total.zwxy);
    return vec4(combine(pairs, pairs.yyyy).x * u.factor, 0.0, 0.0, 0.0);
}
