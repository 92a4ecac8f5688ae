// Blocks of pixels into channels, the block first.
uniform ivec4 block; // x: size
float element(int n, int c, int y, int x) {
    int part = c / A_size.y, row = part / block.x;
    return A_at(n, c - part * A_size.y, y * block.x + row, x * block.x + part - row * block.x);
}
vec4 kernel(int n, int t, int y, int x) {
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), O_size.y - 1);
    return vec4(element(n, c.x, y, x), element(n, c.y, y, x), element(n, c.z, y, x), element(n, c.w, y, x));
}
