// The gradient of a convolution's weights where the gradient G of the result has few pixels: sums of its products with the input X.
//   GROUPED  1: several groups of channels, of whole texels
vec4 kernel(int n, int t, int y, int x) {
#if GROUPED
    int tile = tsr_quotient(n, u.group_outputs) * u.O_tiles + t;
#else
    int tile = t;
#endif
    int top = y * u.window_y.dilation - u.window_y.pad, left = x * u.window_x.dilation - u.window_x.pad;
    vec4 sum = vec4(0.0);
    for (int image = 0; image < u.G_N; image++)
        for (int oy = 0; oy < u.G_H; oy++)
            for (int ox = 0; ox < u.G_W; ox++) {
                int iy = oy * u.window_y.stride + top, ix = ox * u.window_x.stride + left;
                if (iy >= 0 && iy < u.X_H && ix >= 0 && ix < u.X_W)
                    sum += G_at(image, n, oy, ox) * X_fetch(image * u.X_tiles + tile, iy, ix);
            }
    return sum;
}
