// MaxPool's Indices in volumes: reads the largest elements X of each depth's windows, and their indices I in tensors of one
// depth an image; writes the index of the largest along the depth.
//   depth, pixels   of the input: number of depths, elements of one
//   column_major    of indices
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let od = y / u.X_H;
    let row = y - od * u.X_H;
    let channel = 4 * t + vec4i(0, 1, 2, 3);
    let volume = (n * u.X_C + channel) * u.depth * u.pixels;
    let start = od * u.window_z.stride - u.window_z.pad;
    let step = u.window_z.dilation;
    var tap = select((-start - 1) / step + 1, 0, start >= 0);
    var best = vec4f();
    var index = vec4f(volume);
    var first = true;
    for (var at = start + tap * step; at < u.depth && tap < u.window_z.kernel; at += step) {
        tap++;
        let image = n * u.depth + at;
        let v = X_fetch(image * u.X_tiles + t, row, x);
        let pixel = vec4i(I_fetch(image * u.X_tiles + t, row, x)) - (image * u.X_C + channel) * u.pixels;
        let element = select(at * u.pixels + pixel, pixel * u.depth + at, u.column_major == 1);
        let better = tsr_larger(v, best) | vec4<bool>(first);
        first = false;
        best = select(best, v, better);
        index = select(index, vec4f(volume + element), better);
    }
    return index;
}
