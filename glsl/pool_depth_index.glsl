// MaxPool's Indices in volumes: reads the largest elements X of each depth's windows, and their indices I in tensors of one
// depth an image; writes the index of the largest along the depth.
//   depth, pixels   of the input: number of depths, elements of one
//   column_major    of indices
//   TAPS            1: instead, I and what is written are taps of the windows, -1 without one; `pixels` are the taps of a depth
vec4 kernel(int n, int t, int y, int x) {
    int od = tsr_quotient(y, u.X_H), row = y - od * u.X_H, start = od * u.window_z.stride - u.window_z.pad;
    int step = u.window_z.dilation, tap = start >= 0 ? 0 : (-start - 1) / step + 1;
    ivec4 channel = 4 * t + ivec4(0, 1, 2, 3), volume = (n * u.X_C + channel) * u.depth * u.pixels;
    vec4 best = vec4(0.0), index = TAPS == 1 ? vec4(-1.0) : vec4(volume);
    bool any = false;
    for (int at = start + tap * step; at < u.depth && tap < u.window_z.kernel; tap++, at += step) {
        int image = n * u.depth + at;
        vec4 v = X_fetch(image * u.X_tiles + t, row, x);
        vec4 i = I_fetch(image * u.X_tiles + t, row, x);
#if TAPS
        vec4 chosen = i + float(tap * u.pixels);
        bvec4 better = bvec4(uvec4(any ? tsr_larger(v, best) : bvec4(true)) * uvec4(greaterThanEqual(i, vec4(0.0))));
#else
        ivec4 pixel = ivec4(i) - (image * u.X_C + channel) * u.pixels;
        vec4 chosen = vec4(volume + (u.column_major == 1 ? pixel * u.depth + at : at * u.pixels + pixel));
        bvec4 better = any ? tsr_larger(v, best) : bvec4(true);
#endif
        any = true;
        best = mix(best, v, better);
        index = mix(index, chosen, better);
    }
    return index;
}
