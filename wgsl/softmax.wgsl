// Softmax's last step: exp(a - origin) / sum, with both in `sums`, the result of wgsl/exp_sum.wgsl.
//   LOGS       1: the logarithm of that
//   FOLD       1: over channels; 0: not
//   COLUMNS    1: over columns, too
fn finish(difference: vec4f, sum: vec4f) -> vec4f {
#if LOGS
    return difference - log(sum);
#else
    return exp(difference) / sum;
#endif
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let column = select(x, 0, COLUMNS == 1);
#if FOLD
    let both = sums_broadcast(n, t, y, column);
    return finish(X_own(n, t, y, x) - both.x, both.yyyy);
#else
    let origin = sums_broadcast(n, t, y, 2 * column);
    return finish(X_own(n, t, y, x) - origin, sums_broadcast(n, t, y, 2 * column + 1));
#endif
}
