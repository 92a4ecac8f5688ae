// Instance normalization's last step: (x - mean) / sqrt(variance + epsilon); scale and bias are post-ops. Mean and
// variance are two columns of a tile of `moments`, fetched by the same expression for every plane, so that compilers merge
// the fetches.
vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
#if HALF_ONLY
    vec4 deviation = moments_fetch(k, 0, 1), scale = 1.0 / sqrt(deviation * deviation + u.epsilon);
    return (X_own(n, t, y, x) - moments_fetch(k, 0, 0) - moments_fetch(k, 0, 2)) * scale;
#else
    vec4 scale = 1.0 / sqrt(moments_fetch(k, 0, 1) + u.epsilon);
    return (X_own(n, t, y, x) - moments_fetch(k, 0, 0)) * scale;
#endif
}
