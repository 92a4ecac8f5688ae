// Product of two computed matrices; axes before the last two are broadcast. Their axes depend on the rank:
//   RANK 2: rows N, columns C;   3: batch N, rows C, columns W;   4: batch N and C, rows H, columns W
//   inner   length of the sums
vec4 kernel(int n, int t, int y, int x) {
    vec4 sum = vec4(0.0);
    for (int k = 0; k < u.inner; k++) {
#if RANK == 2
        sum += A_at(n, k, 0, 0) * B_fetch(k * u.B_tiles + t, 0, 0);
#elif RANK == 3
        sum += A_broadcast(n, t, 0, k) * B_at(min(n, u.B_N - 1), k, 0, x);
#else
        sum += A_broadcast(n, t, y, k) * B_broadcast(n, t, k, x);
#endif
    }
    return sum;
}
