// A copy, broadcast where the output is larger. Element-wise operators are post-ops of it.
vec4 kernel(int n, int t, int y, int x) {
#if BROADCAST
    return X_broadcast(n, t, y, x);
#else
    return X_own(n, t, y, x);
#endif
}
