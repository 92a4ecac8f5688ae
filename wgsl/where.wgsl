// As glsl/where.glsl.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if X_BROADCAST
    let condition = X_broadcast(n, t, y, x);
#else
    let condition = X_own(n, t, y, x);
#endif
#if A_BROADCAST == 2
    let a = vec4f(u.a);
#elif A_BROADCAST
    let a = A_broadcast(n, t, y, x);
#else
    let a = A_own(n, t, y, x);
#endif
#if B_BROADCAST == 2
    let b = vec4f(u.b);
#elif B_BROADCAST
    let b = B_broadcast(n, t, y, x);
#else
    let b = B_own(n, t, y, x);
#endif
    return select(b, a, condition != vec4f());
}
