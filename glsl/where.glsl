// A where X is true, B elsewhere, broadcast where the output is larger.
vec4 kernel(int n, int t, int y, int x) {
#if BROADCAST
    vec4 condition = X_broadcast(n, t, y, x), a = A_broadcast(n, t, y, x), b = B_broadcast(n, t, y, x);
#else
    vec4 condition = X_own(n, t, y, x), a = A_own(n, t, y, x), b = B_own(n, t, y, x);
#endif
    return mix(b, a, notEqual(condition, vec4(0.0)));
}
