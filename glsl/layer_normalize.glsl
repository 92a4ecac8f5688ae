// Normalizes the channels of a pixel by what layer_moments has found.
vec4 kernel(int n, int t, int y, int x) {
    vec4 m = moments_fetch(n, y, x);
#if HALF_ONLY
    return (X_own(n, t, y, x) - m.x - m.z) * m.y;
#else
    return (X_own(n, t, y, x) - m.x) * m.y;
#endif
}
