// The gradient of MaxPool's input: a pixel sums the gradients G of the results of those windows whose maximum it is. I has the
// maximum's tap in each window. Depths are one below the other.
//   height, out_height, out_depth   rows of a depth of the output and of G, depths of G

// The first window of an axis that a tap at `at`, counted from the padding, is in, and the end of these windows.
ivec2 windows_at(int at, int kernel, int stride, int dilation, int count) {
    int before = at - (kernel - 1) * dilation; // where the first one begins at the earliest
    return ivec2(before <= 0 ? 0 : (before - 1) / stride + 1, min(at / stride + 1, count));
}
// Which tap of window `i` that is; -1: none, it is between two.
int tap_of(int at, int i, int stride, int dilation) {
    int distance = at - i * stride, tap = distance / dilation;
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
                vec4 tap = vec4((kz * u.window_y.kernel + ky) * u.window_x.kernel + kx);
                bvec4 is_maximum = equal(I_fetch(n * u.I_tiles + t, from, ox), tap);
                sum += mix(vec4(0.0), G_fetch(n * u.G_tiles + t, from, ox), is_maximum);
            }
        }
    }
    return sum;
}
