// A pool along the depth of volumes: reads their depths as images, writes them one below the other. MODE as in
// wgsl/pool.wgsl.
//   depth       of the input
//   count_from, count_to   average: positions from count_from to count_to - 1 are counted

// The first tap of a window at a position from `from` to `to` - 1, and the end of these taps.
fn taps_within(start: i32, first_position: i32, end_position: i32) -> vec2i {
    let dilation = u.window_z.dilation;
    let first = select((first_position - start - 1) / dilation + 1, 0, start >= first_position);
    let end = select((end_position - start - 1) / dilation + 1, 0, start >= end_position);
    return vec2i(first, max(first, min(end, u.window_z.kernel)));
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let od = y / u.X_H;
    let row = y - od * u.X_H;
    let start = od * u.window_z.stride - u.window_z.pad;
    let taps = taps_within(start, 0, u.depth);
    var best = vec4f(-3.402823466e38);
    var sum = vec4f();
    var first = true;
    for (var i = taps.x; i < taps.y; i++) {
        let v = X_fetch((n * u.depth + start + i * u.window_z.dilation) * u.X_tiles + t, row, x);
        sum += v;
        best = select(best, v, tsr_larger(v, best) | vec4<bool>(first));
        first = false;
    }
#if MODE == 0
    return best;
#else
    let counted = taps_within(start, u.count_from, u.count_to);
    return sum / f32(max(counted.y - counted.x, 1));
#endif
}
