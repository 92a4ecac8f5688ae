// A where X is true, B elsewhere, broadcast where the output is larger.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if BROADCAST
    let condition = X_broadcast(n, t, y, x);
    let a = A_broadcast(n, t, y, x);
    let b = B_broadcast(n, t, y, x);
#else
    let condition = X_own(n, t, y, x);
    let a = A_own(n, t, y, x);
    let b = B_own(n, t, y, x);
#endif
    return select(b, a, condition != vec4f());
}
