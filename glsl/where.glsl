// A where X is true, B elsewhere.
//   X_BROADCAST, A_BROADCAST, B_BROADCAST   1: the output is larger than the operand, 2: of A and B: they are the numbers a and b
vec4 kernel(int n, int t, int y, int x) {
#if X_BROADCAST
    vec4 condition = X_broadcast(n, t, y, x);
#else
    vec4 condition = X_own(n, t, y, x);
#endif
#if A_BROADCAST == 2
    vec4 a = vec4(u.a);
#elif A_BROADCAST
    vec4 a = A_broadcast(n, t, y, x);
#else
    vec4 a = A_own(n, t, y, x);
#endif
#if B_BROADCAST == 2
    vec4 b = vec4(u.b);
#elif B_BROADCAST
    vec4 b = B_broadcast(n, t, y, x);
#else
    vec4 b = B_own(n, t, y, x);
#endif
    return mix(b, a, notEqual(condition, vec4(0.0)));
}
