// Sliding windows without weights.
//   MODE                     0: maximum; 1: average; 2: index of the maximum, as MaxPool's Indices
//   DILATED                  0: dilations are 1
//   u.window_y, u.window_x   kernel, stride, dilation, pad
//   u.counted                average: positions before and behind the image that count as pixels: top, left, rows,
//                            columns
//   u.order                  indices: x 1 for column-major

// Taps of a window that lie at begin .. end - 1: the first, and the one behind the last. A window may be far larger
// than the image.
fn taps_within(window: vec4i, start: i32, begin: i32, end: i32) -> vec2i {
#if DILATED
    let first = select((begin - start - 1) / window.z + 1, 0, start >= begin);
    let last = select((end - start - 1) / window.z + 1, 0, start >= end);
#else
    let first = max(begin - start, 0);
    let last = end - start;
#endif
    return vec2i(first, max(first, min(last, window.x)));
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.A_grid.x + t;
    let start = vec2i(x * u.window_x.y - u.window_x.w, y * u.window_y.y - u.window_y.w);
    let rows = taps_within(u.window_y, start.y, 0, u.A_size.z);
    let columns = taps_within(u.window_x, start.x, 0, u.A_size.w);
    var best = vec4f(-3.402823466e38);
    var index = vec4f();
    var sum = vec4f();
    var first = true;
    for (var ky = rows.x; ky < rows.y; ky++) {
        let iy = start.y + ky * u.window_y.z;
        for (var kx = columns.x; kx < columns.y; kx++) {
            let ix = start.x + kx * u.window_x.z;
            let v = A_fetch(k, iy, ix);
            let better = tsr_larger(v, best) | vec4<bool>(first);
            first = false;
            sum += v;
            best = select(best, v, better);
#if MODE == 2
            let at = select(iy * u.A_size.w + ix, ix * u.A_size.z + iy, u.order.x == 1);
            let plane = (n * u.A_size.y + 4 * t + vec4i(0, 1, 2, 3)) * (u.A_size.z * u.A_size.w);
            index = select(index, vec4f(plane + at), better);
#endif
        }
    }
#if MODE == 0
    return best;
#elif MODE == 1
    let counted_rows = taps_within(u.window_y, start.y, -u.counted.x, u.counted.z);
    let counted_columns = taps_within(u.window_x, start.x, -u.counted.y, u.counted.w);
    let count = f32(counted_rows.y - counted_rows.x) * f32(counted_columns.y - counted_columns.x);
    return sum / max(count, 1.0);
#else
    return index;
#endif
}
