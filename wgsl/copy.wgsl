// A copy, broadcast where the output is larger: the carrier of element-wise operators, which are post-ops.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if BROADCAST
    return X_broadcast(n, t, y, x);
#else
    return X_own(n, t, y, x);
#endif
}
