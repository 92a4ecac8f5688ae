// The same elements in row-major order with other sizes.
float element(int n, int c, int y, int x) {
    int i = ((n * O_size.y + c) * O_size.z + y) * O_size.w + x;
    int row = i / A_size.w, plane = row / A_size.z, image = plane / A_size.y;
    return A_at(image, plane - image * A_size.y, row - plane * A_size.z, i - row * A_size.w);
}

vec4 kernel(int n, int t, int y, int x) {
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), O_size.y - 1);
    return vec4(element(n, c.x, y, x), element(n, c.y, y, x), element(n, c.z, y, x), element(n, c.w, y, x));
}
