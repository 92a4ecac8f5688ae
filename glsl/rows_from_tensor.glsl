// As array_from_tensor, where rows are multiples of four elements: plane i of the output has channels 4t + i, a texel one
// channel of four pixels.
void kernel_row(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
    vec4 a = X_fetch(k, y, x), b = X_fetch(k, y, x + 1), c = X_fetch(k, y, x + 2), d = X_fetch(k, y, x + 3);
    v0 = vec4(a.x, b.x, c.x, d.x);
    v1 = vec4(a.y, b.y, c.y, d.y);
    v2 = vec4(a.z, b.z, c.z, d.z);
    v3 = vec4(a.w, b.w, c.w, d.w);
}
