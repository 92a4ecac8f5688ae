// Product of two computed matrices; axes before the last two are broadcast. Their axes depend on the rank:
//   RANK 2: rows N, columns C;   3: batch N, rows C, columns W;   4: batch N and C, rows H, columns W
//   inner   length of the sums
// All columns of a fragment are computed at once, so that what is read of A is read for all of them.
vec4 right(int n, int t, int k, ivec2 place) {
#if RANK == 2
    return B_fetch(k * u.B_tiles + t, 0, 0);
#elif RANK == 3
    return vec4(B_cell(min(n, u.B_N - 1) * u.B_tiles + (k >> 2), 0, place.x, place.y)[k & 3]);
#else
    vec4 v = B_cell(min(n, u.B_N - 1) * u.B_tiles + min(t, u.B_tiles - 1), k, place.x, place.y);
    return u.B_C == 1 ? v.xxxx : v;
#endif
}

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(0.0);
    ivec2 place$j = B_place(min(x + $j, u.B_W - 1));
#endfor
#if RANK == 2
    // A texel of A is four steps.
    int whole = u.inner >> 2, first = 4 * whole;
    for (int i = 0; i < whole; i++) {
        vec4 left = A_fetch(n * u.A_tiles + i, 0, 0);
#for c 4
        v0 += left[$c] * right(n, t, 4 * i + $c, place0);
#endfor
    }
#else
    const int first = 0;
#endif
    for (int k = first; k < u.inner; k++) {
#if RANK == 2
        vec4 left = vec4(A_at(n, k, 0, 0));
#elif RANK == 3
        vec4 left = A_broadcast(n, t, 0, k);
#else
        vec4 left = A_broadcast(n, t, y, k);
#endif
#for j PLANES
        v$j += left * right(n, t, k, place$j);
#endfor
    }
}
