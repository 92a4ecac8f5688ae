// Sliding windows without weights.
//   MODE                     0: maximum; 1: average; 2: index of the maximum, as MaxPool's Indices; 3: of its tap in the
//                            window, -1 without one
//   DILATED                  0: dilations are 1
//   counted                  average: positions from (-top, -left) to (rows, columns) are counted
//   column_major             of indices

// The first tap of a window at a position from `begin` to `end` - 1, and the end of these taps. A window may be far larger
// than the image.
fn taps_within(size: i32, dilation: i32, start: i32, begin: i32, end: i32) -> vec2i {
#if DILATED
    let first = select((begin - start - 1) / dilation + 1, 0, start >= begin);
    let last = select((end - start - 1) / dilation + 1, 0, start >= end);
#else
    let first = max(begin - start, 0);
    let last = end - start;
#endif
    return vec2i(first, max(first, min(last, size)));
}

fn rows_within(start: i32, begin: i32, end: i32) -> vec2i {
    return taps_within(u.window_y.kernel, u.window_y.dilation, start, begin, end);
}
fn columns_within(start: i32, begin: i32, end: i32) -> vec2i {
    return taps_within(u.window_x.kernel, u.window_x.dilation, start, begin, end);
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    let start = vec2i(x * u.window_x.stride - u.window_x.pad, y * u.window_y.stride - u.window_y.pad);
    let rows = rows_within(start.y, 0, u.X_H);
    let columns = columns_within(start.x, 0, u.X_W);
    var best = vec4f(-3.402823466e38);
    var index = vec4f(select(0.0, -1.0, MODE == 3));
    var sum = vec4f();
    var first = true;
    for (var ky = rows.x; ky < rows.y; ky++) {
        let iy = start.y + ky * u.window_y.dilation;
        for (var kx = columns.x; kx < columns.y; kx++) {
            let ix = start.x + kx * u.window_x.dilation;
            let v = X_fetch(k, iy, ix);
            let better = tsr_larger(v, best) | vec4<bool>(first);
            first = false;
            sum += v;
            best = select(best, v, better);
#if MODE == 2
            let at = select(iy * u.X_W + ix, ix * u.X_H + iy, u.column_major == 1);
            let plane = (n * u.X_C + 4 * t + vec4i(0, 1, 2, 3)) * (u.X_H * u.X_W);
            index = select(index, vec4f(plane + at), better);
#elif MODE == 3
            index = select(index, vec4f(f32(ky * u.window_x.kernel + kx)), better);
#endif
        }
    }
#if MODE == 0
    return best;
#elif MODE == 1
    let counted_rows = rows_within(start.y, -u.counted.top, u.counted.rows);
    let counted_columns = columns_within(start.x, -u.counted.left, u.counted.columns);
    let count = f32(counted_rows.y - counted_rows.x) * f32(counted_columns.y - counted_columns.x);
    return sum / max(count, 1.0);
#else
    return index;
#endif
}
