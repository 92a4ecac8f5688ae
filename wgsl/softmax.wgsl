// Softmax's last step: exp(a - maximum) / sum.
//   BOTH    1: over channels; wgsl/softmax_sum.wgsl made both, B, the maximum perhaps a little smaller;
//           0: wgsl/reduce.wgsl made each of them, B and C
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if BOTH
    let both = B_fetch(n, y, x);
    return exp(A_own(n, t, y, x) - both.x) / both.y;
#else
    return exp(A_own(n, t, y, x) - B_broadcast(n, t, y, x)) / C_broadcast(n, t, y, x);
#endif
}
