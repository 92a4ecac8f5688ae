// Sliding windows without weights. MODE 0: maximum; 1: average; 2: index of the maximum, as MaxPool's Indices.
// DILATED 0: dilations are 1. Small windows have glsl/pool_row.glsl.
uniform ivec4 window_y; // kernel, stride, dilation, pad
uniform ivec4 window_x;
uniform ivec4 counted;  // average: positions before and behind the image that count as pixels: top, left, rows, columns
uniform ivec4 order;    // indices: x 1 for column-major

// Taps of a window that lie at from .. to - 1: the first, and the one behind the last. A window may be far larger than
// the image.
ivec2 taps_within(ivec4 window, int start, int from, int to) {
#if DILATED
    int first = start >= from ? 0 : (from - start - 1) / window.z + 1;
    int end = start >= to ? 0 : (to - start - 1) / window.z + 1;
#else
    int first = max(from - start, 0), end = to - start;
#endif
    return ivec2(first, max(first, min(end, window.x)));
}

vec4 kernel(int n, int t, int y, int x) {
    int k = n * A_grid.x + t;
    ivec2 start = ivec2(x * window_x.y - window_x.w, y * window_y.y - window_y.w);
    ivec2 rows = taps_within(window_y, start.y, 0, A_size.z), columns = taps_within(window_x, start.x, 0, A_size.w);
    vec4 best = vec4(-3.402823466e38), index = vec4(0.0), sum = vec4(0.0);
    bool any = false;
    for (int ky = rows.x; ky < rows.y; ky++) {
        int iy = start.y + ky * window_y.z;
        for (int kx = columns.x; kx < columns.y; kx++) {
            int ix = start.x + kx * window_x.z;
            vec4 v = A_fetch(k, iy, ix);
            bvec4 better = any ? tsr_larger(v, best) : bvec4(true);
            any = true;
            sum += v;
            best = mix(best, v, better);
#if MODE == 2
            int at = order.x == 1 ? ix * A_size.z + iy : iy * A_size.w + ix;
            ivec4 plane = (n * A_size.y + 4 * t + ivec4(0, 1, 2, 3)) * (A_size.z * A_size.w);
            index = mix(index, vec4(plane + at), better);
#endif
        }
    }
#if MODE == 0
    return best;
#elif MODE == 1
    ivec2 counted_rows = taps_within(window_y, start.y, -counted.x, counted.z);
    ivec2 counted_columns = taps_within(window_x, start.x, -counted.y, counted.w);
    float count = float(counted_rows.y - counted_rows.x) * float(counted_columns.y - counted_columns.x);
    return sum / max(count, 1.0);
#else
    return index;
#endif
}
