// Products of the channels of each pixel up to each of them, in their order.
//   EXCLUSIVE 1   without itself
//   REVERSE 1     from the last one
vec4 factors(int n, int t, int y, int x) {
    return mix(X_fetch(n * u.X_tiles + t, y, x), vec4(1.0), greaterThanEqual(4 * t + ivec4(0, 1, 2, 3), ivec4(u.X_C)));
}

vec4 kernel(int n, int t, int y, int x) {
    float product = 1.0;
#if REVERSE
    for (int i = u.X_tiles - 1; i > t; i--) {
        vec4 v = factors(n, i, y, x).wzyx;
#else
    for (int i = 0; i < t; i++) {
        vec4 v = factors(n, i, y, x);
#endif
        product = product * v.x * v.y * v.z * v.w;
    }
    vec4 v = factors(n, t, y, x), result;
#if REVERSE
    v = v.wzyx;
#endif
    float first = product * v.x, second = first * v.y, third = second * v.z;
#if EXCLUSIVE
    result = vec4(product, first, second, third);
#else
    result = vec4(first, second, third, third * v.w);
#endif
#if REVERSE
    return result.wzyx;
#else
    return result;
#endif
}
