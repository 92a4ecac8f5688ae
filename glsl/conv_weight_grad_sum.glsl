// The gradient of a convolution's weights from the partial sums of glsl/conv_weight_grad.glsl: output channels become images,
// taps pixels. SINGLE 1: there is one of them; not with BLOCK 0.
vec4 kernel(int n, int t, int y, int x) {
#if PAIRS
    int kx = x / ${2 * STRIDE} * STRIDE + x % STRIDE, second = x / STRIDE & 1; // of half as many columns
    int column = (y * (u.O_W >> 1) + kx) * 8 + second * 4 + n % 4;
#elif BLOCK
    int column = (y * u.O_W + x) * BLOCK + n % BLOCK;
#endif
#if SINGLE
    return X_fetch(n / BLOCK * u.X_tiles + t, 0, column);
#else
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.partials; i++)
#if BLOCK
        sum += X_fetch((i * u.blocks + n / BLOCK) * u.X_tiles + t, 0, column);
#else
        sum.x += X_at(i, n, 0, y * u.O_W + x);
#endif
    return sum;
#endif
}
