// MaxPool's Indices in volumes: reads the largest elements X of each depth's windows, and their indices I in tensors of one
// depth an image; writes the index of the largest along the depth.
//   depth, pixels   of the input: number of depths, elements of one
//   column_major    of indices
//   TAPS            1: instead, I and what is written are taps of the windows, -1 without one; `pixels` are the taps of a depth
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let od = y / u.X_H;
    let row = y - od * u.X_H;
    let channel = 4 * t + vec4i(0, 1, 2, 3);
    let volume = (n * u.X_C + channel) * u.depth * u.pixels;
    let start = od * u.window_z.stride - u.window_z.pad;
    let step = u.window_z.dilation;
    var tap = select((-start - 1) / step + 1, 0, start >= 0);
    var best = vec4f();
    var index = select(vec4f(volume), vec4f(-1.0), TAPS == 1);
    var first = true;
    for (var at = start + tap * step; at < u.depth && tap < u.window_z.kernel; at += step) {
        let image = n * u.depth + at;
        let v = X_fetch(image * u.X_tiles + t, row, x);
        let i = I_fetch(image * u.X_tiles + t, row, x);
#if TAPS
        let chosen = i + f32(tap * u.pixels);
        let better = (tsr_larger(v, best) | vec4<bool>(first)) & (i >= vec4f());
#else
        let pixel = vec4i(i) - (image * u.X_C + channel) * u.pixels;
        let chosen = vec4f(volume + select(at * u.pixels + pixel, pixel * u.depth + at, u.column_major == 1));
        let better = tsr_larger(v, best) | vec4<bool>(first);
#endif
        tap++;
        first = false;
        best = select(best, v, better);
        index = select(index, chosen, better);
    }
    return index;
}
