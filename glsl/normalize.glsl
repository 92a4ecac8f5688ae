// Instance normalization's last step: (a - mean) / sqrt(variance + epsilon); scale and bias are post-ops. Mean and
// variance are two columns of a tile, asked for in the same words for every plane, so that they are fetched once.
uniform vec4 epsilon; // x
vec4 kernel(int n, int t, int y, int x) {
    int k = n * A_grid.x + t;
    vec4 scale = 1.0 / sqrt(B_fetch(k, 0, 1) + epsilon.x);
    return (A_own(n, t, y, x) - B_fetch(k, 0, 0)) * scale;
}
