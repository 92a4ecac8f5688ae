// Instance normalization's last step: (a - mean) / sqrt(variance + epsilon); scale and bias are post-ops.
uniform vec4 epsilon; // x
vec4 kernel(int n, int t, int y, int x) {
    vec4 variance = C_broadcast(n, t, y, x);
    return (A_fetch(n * A_grid.x + t, y, x) - B_broadcast(n, t, y, x)) / sqrt(variance + epsilon.x);
}
