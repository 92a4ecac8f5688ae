// Softmax's last step: exp(a - maximum) / sum; both were made by wgsl/reduce.wgsl.
//   B, C    maximum, sum
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    return exp(A_own(n, t, y, x) - B_broadcast(n, t, y, x)) / C_broadcast(n, t, y, x);
}
