// Sliding windows without weights. MODE 0: maximum; 1: average; 2: index of the maximum, as MaxPool's Indices; 3: of its tap in
// the window, -1 without one.
// DILATED 0: dilations are 1. For windows of few columns see glsl/pool_row.glsl.
//   counted         average: positions from (-top, -left) to (rows, columns) are counted
//   column_major    of indices

// The first tap of a window at a position from `from` to `to` - 1, and the end of these taps. A window may be far larger
// than the image.
ivec2 taps_within(int size, int dilation, int start, int from, int to) {
#if DILATED
    int first = start >= from ? 0 : (from - start - 1) / dilation + 1;
    int end = start >= to ? 0 : (to - start - 1) / dilation + 1;
#else
    int first = max(from - start, 0), end = to - start;
#endif
    return ivec2(first, max(first, min(end, size)));
}
ivec2 rows_within(int start, int from, int to) {
    return taps_within(u.window_y.kernel, u.window_y.dilation, start, from, to);
}
ivec2 columns_within(int start, int from, int to) {
    return taps_within(u.window_x.kernel, u.window_x.dilation, start, from, to);
}

vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
    ivec2 start = ivec2(x * u.window_x.stride - u.window_x.pad, y * u.window_y.stride - u.window_y.pad);
    ivec2 rows = rows_within(start.y, 0, u.X_H), columns = columns_within(start.x, 0, u.X_W);
    vec4 best = vec4(-3.402823466e38), index = vec4(MODE == 3 ? -1 : 0), sum = vec4(0.0);
    bool any = false;
    for (int ky = rows.x; ky < rows.y; ky++) {
        int iy = start.y + ky * u.window_y.dilation;
        for (int kx = columns.x; kx < columns.y; kx++) {
            int ix = start.x + kx * u.window_x.dilation;
            vec4 v = X_fetch(k, iy, ix);
            bvec4 better = any ? tsr_larger(v, best) : bvec4(true);
            any = true;
            sum += v;
            best = mix(best, v, better);
#if MODE == 2
            int at = u.column_major == 1 ? ix * u.X_H + iy : iy * u.X_W + ix;
            ivec4 plane = (n * u.X_C + 4 * t + ivec4(0, 1, 2, 3)) * (u.X_H * u.X_W);
            index = mix(index, vec4(plane + at), better);
#elif MODE == 3
            index = mix(index, vec4(ky * u.window_x.kernel + kx), better);
#endif
        }
    }
#if MODE == 0
    return best;
#elif MODE == 1
    ivec2 counted_rows = rows_within(start.y, -u.counted.top, u.counted.rows);
    ivec2 counted_columns = columns_within(start.x, -u.counted.left, u.counted.columns);
    float count = float(counted_rows.y - counted_rows.x) * float(counted_columns.y - counted_columns.x);
    return sum / max(count, 1.0);
#else
    return index;
#endif
}
