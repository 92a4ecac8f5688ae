// For kernels that compute one element at a time:
//     float element(int n, int c, int y, int x)
vec4 kernel(int n, int t, int y, int x) {
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), u.O_C - 1); // padding channels: any value
    return vec4(element(n, c.x, y, x), element(n, c.y, y, x), element(n, c.z, y, x), element(n, c.w, y, x));
}
