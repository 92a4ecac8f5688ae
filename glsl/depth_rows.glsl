// Images as the depths of volumes: one below the other. The reverse of depth_taps with one tap.
vec4 kernel(int n, int t, int y, int x) {
    int d = tsr_quotient(y, u.X_H);
    return X_fetch((n * u.depth + d) * u.X_tiles + t, y - d * u.X_H, x);
}
