// A copy, broadcast where the output is larger. Element-wise operators are post-ops of it.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if BROADCAST
    return X_broadcast(n, t, y, x);
#else
    return X_own(n, t, y, x);
#endif
}
