// The gradient of a convolution's weights from the partial sums of glsl/conv_weight_grad.glsl: output channels become images,
// taps pixels.
vec4 kernel(int n, int t, int y, int x) {
    int tap = y * u.O_W + x;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.partials; i++)
#if BLOCK
        sum += X_fetch((i * u.blocks + n / BLOCK) * u.X_tiles + t, 0, tap * BLOCK + n % BLOCK);
#else
        sum.x += X_at(i, n, 0, tap);
#endif
    return sum;
}
