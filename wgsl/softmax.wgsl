// Softmax's last step: exp(a - origin) / sum, both as wgsl/exp_sum.wgsl has left them in B.
//   FOLD       1: over channels; 0: not
//   COLUMNS    1: over columns too
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let column = select(x, 0, COLUMNS == 1);
#if FOLD
    let both = B_broadcast(n, t, y, column);
    return exp(A_own(n, t, y, x) - both.x) / both.y;
#else
    let origin = B_broadcast(n, t, y, 2 * column);
    return exp(A_own(n, t, y, x) - origin) / B_broadcast(n, t, y, 2 * column + 1);
#endif
}
