// Softmax's last step: exp(a - origin) / sum, with both in `sums`, the result of wgsl/exp_sum.wgsl.
//   FOLD       1: over channels; 0: not
//   COLUMNS    1: over columns, too
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let column = select(x, 0, COLUMNS == 1);
#if FOLD
    let both = sums_broadcast(n, t, y, column);
    return exp(X_own(n, t, y, x) - both.x) / both.y;
#else
    let origin = sums_broadcast(n, t, y, 2 * column);
    return exp(X_own(n, t, y, x) - origin) / sums_broadcast(n, t, y, 2 * column + 1);
#endif
}
