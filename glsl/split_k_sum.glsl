// Adds up split-K partial sums, each of which is stored in as many images as the output has.
vec4 kernel(int n, int t, int y, int x) {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.partials; i++)
        sum += X_fetch((i * u.O_N + n) * u.X_tiles + t, y, x);
    return sum;
}
