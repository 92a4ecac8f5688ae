// Sums of the channels of each pixel up to each of them.
//   EXCLUSIVE 1   without itself
//   REVERSE 1     from the last one
vec4 kernel(int n, int t, int y, int x) {
    vec4 sum = vec4(0.0), part = vec4(0.0);
#if REVERSE
    for (int i = u.X_tiles - 1; i > t; i--) {
#else
    for (int i = 0; i < t; i++) {
#endif
        part += X_fetch(n * u.X_tiles + i, y, x);
        if (i % 16 == 15) { // sums of few keep rounding errors small
            sum += part;
            part = vec4(0.0);
        }
    }
    sum += part;
    vec4 v = X_fetch(n * u.X_tiles + t, y, x);
#if EXCLUSIVE && REVERSE
    vec4 own = vec4(v.y + (v.z + v.w), v.z + v.w, v.w, 0.0);
#elif EXCLUSIVE
    vec4 own = vec4(0.0, v.x, v.x + v.y, v.x + v.y + v.z);
#elif REVERSE
    vec4 own = vec4(v.x + v.y + (v.z + v.w), v.y + (v.z + v.w), v.z + v.w, v.w);
#else
    vec4 own = vec4(v.x, v.x + v.y, v.x + v.y + v.z, v.x + v.y + (v.z + v.w));
#endif
    return own + (sum.x + sum.y + (sum.z + sum.w));
}
