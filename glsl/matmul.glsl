// Product of two computed matrices; axes before the last two are broadcast. Where the two lie depends on the rank:
//   RANK 2: rows N, columns C;   3: batch N, rows C, columns W;   4: batch N and C, rows H, columns W
uniform ivec4 inner; // x: length of the sums

float element(int n, int c, int y, int x) {
    float sum = 0.0;
#if RANK == 2
    for (int k = 0; k < inner.x; k++)
        sum += A_at(n, k, 0, 0) * B_at(k, c, 0, 0);
#elif RANK == 3
    int a = min(n, A_size.x - 1), b = min(n, B_size.x - 1);
    for (int k = 0; k < inner.x; k++)
        sum += A_at(a, c, 0, k) * B_at(b, k, 0, x);
#else
    ivec2 a = min(ivec2(n, c), A_size.xy - 1), b = min(ivec2(n, c), B_size.xy - 1);
    for (int k = 0; k < inner.x; k++)
        sum += A_at(a.x, a.y, y, k) * B_at(b.x, b.y, k, x);
#endif
    return sum;
}

vec4 kernel(int n, int t, int y, int x) {
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), O_size.y - 1);
    return vec4(element(n, c.x, y, x), element(n, c.y, y, x), element(n, c.z, y, x), element(n, c.w, y, x));
}
