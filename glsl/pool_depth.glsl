// A pool along the depth of volumes: reads their depths as images, writes them one below the other. MODE as in
// glsl/pool.glsl.
//   depth       of the input
//   count_from, count_to   average: positions from count_from to count_to - 1 are counted

// The first tap of a window at a position from `from` to `to` - 1, and the end of these taps.
ivec2 taps_within(int start, int from, int to) {
    int dilation = u.window_z.dilation;
    int first = start >= from ? 0 : (from - start - 1) / dilation + 1;
    int end = start >= to ? 0 : (to - start - 1) / dilation + 1;
    return ivec2(first, max(first, min(end, u.window_z.kernel)));
}

vec4 kernel(int n, int t, int y, int x) {
    int od = tsr_quotient(y, u.X_H), row = y - od * u.X_H, start = od * u.window_z.stride - u.window_z.pad;
    ivec2 taps = taps_within(start, 0, u.depth);
    vec4 best = vec4(-3.402823466e38), sum = vec4(0.0);
    bool any = false;
    for (int i = taps.x; i < taps.y; i++) {
        vec4 v = X_fetch((n * u.depth + start + i * u.window_z.dilation) * u.X_tiles + t, row, x);
        sum += v;
        best = mix(best, v, any ? tsr_larger(v, best) : bvec4(true));
        any = true;
    }
#if MODE == 0
    return best;
#else
    ivec2 counted = taps_within(start, u.count_from, u.count_to);
    return sum / float(max(counted.y - counted.x, 1));
#endif
}
