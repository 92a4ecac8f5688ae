// The gradient of MaxPool's input: a pixel sums the gradients G of the results of those windows whose maximum it is. I has the
// maximum's tap in each window. Depths are one below the other.
//   APART   1: no pixel is in two windows, and none is dilated
//   height, out_height, out_depth   rows of a depth of the output and of G, depths of G

// Of G's pixel (from, ox), if the window's maximum is at a tap.
vec4 gradient_at(int n, int t, int from, int ox, int kz, int ky, int kx) {
    vec4 tap = vec4((kz * u.window_y.kernel + ky) * u.window_x.kernel + kx);
    bvec4 is_maximum = equal(I_fetch(n * u.I_tiles + t, from, ox), tap);
    return mix(vec4(0.0), G_fetch(n * u.G_tiles + t, from, ox), is_maximum);
}

#if APART
vec4 kernel(int n, int t, int y, int x) {
    int depth = tsr_quotient(y, u.height);
    int kz = depth + u.window_z.pad, ky = y - depth * u.height + u.window_y.pad, kx = x + u.window_x.pad;
    int oz = tsr_quotient(kz, u.window_z.stride), oy = tsr_quotient(ky, u.window_y.stride);
    int ox = tsr_quotient(kx, u.window_x.stride);
    kz -= oz * u.window_z.stride;
    ky -= oy * u.window_y.stride;
    kx -= ox * u.window_x.stride;
    bool inside = kz < u.window_z.kernel && ky < u.window_y.kernel && kx < u.window_x.kernel && oz < u.out_depth &&
                  oy < u.out_height && ox < u.G_W;
    int from = inside ? oz * u.out_height + oy : 0;
    vec4 v = gradient_at(n, t, from, inside ? ox : 0, kz, ky, kx);
    return inside ? v : vec4(0.0);
}
#else
// The first window of an axis that a tap at `at`, counted from the padding, is in, and the end of these windows.
ivec2 windows_at(int at, int kernel, int stride, int dilation, int count) {
    int before = at - (kernel - 1) * dilation; // where the first one begins at the earliest
    return ivec2(before <= 0 ? 0 : tsr_quotient(before - 1, stride) + 1, min(tsr_quotient(at, stride) + 1, count));
}
// Which tap of window `i` that is; -1: none, it is between two.
int tap_of(int at, int i, int stride, int dilation) {
    int distance = at - i * stride, tap = tsr_quotient(distance, dilation);
    return tap * dilation == distance ? tap : -1;
}

vec4 kernel(int n, int t, int y, int x) {
    int depth = tsr_quotient(y, u.height);
    int z = depth + u.window_z.pad, row = y - depth * u.height + u.window_y.pad, column = x + u.window_x.pad;
    ivec2 depths = windows_at(z, u.window_z.kernel, u.window_z.stride, u.window_z.dilation, u.out_depth);
    ivec2 rows = windows_at(row, u.window_y.kernel, u.window_y.stride, u.window_y.dilation, u.out_height);
    ivec2 columns = windows_at(column, u.window_x.kernel, u.window_x.stride, u.window_x.dilation, u.G_W);
    vec4 sum = vec4(0.0);
    for (int oz = depths.x; oz < depths.y; oz++) {
        int kz = tap_of(z, oz, u.window_z.stride, u.window_z.dilation);
        for (int oy = rows.x; oy < rows.y; oy++) {
            int ky = tap_of(row, oy, u.window_y.stride, u.window_y.dilation);
            for (int ox = columns.x; ox < columns.y; ox++) {
                int kx = tap_of(column, ox, u.window_x.stride, u.window_x.dilation), from = oz * u.out_height + oy;
                if (min(kz, min(ky, kx)) < 0)
                    continue;
                sum += gradient_at(n, t, from, ox, kz, ky, kx);
            }
        }
    }
    return sum;
}
#endif
