// X with the rows of U in it, of each image from the row on that I names (STARTS 1), or from the first one on.
//   CIRCULAR 1: rows beyond the last one are the first ones
int modulo_positive(int i, int size) { return i - tsr_quotient(i, size) * size; }
int modulo(int i, int size) { return i < 0 ? size - 1 - modulo_positive(-1 - i, size) : modulo_positive(i, size); }

vec4 kernel(int n, int t, int y, int x) {
#if STARTS
    int start = int(I_at(n, 0, 0, 0));
#else
    int start = 0;
#endif
#if CIRCULAR
    start = modulo(start, u.X_H);
    int row = y < start ? y - start + u.X_H : y - start;
#else
    int row = y - start;
#endif
    bool inside = row >= 0 && row < u.U_H;
    vec4 update = U_fetch(n * u.U_tiles + t, inside ? row : 0, x);
    return inside ? update : X_own(n, t, y, x);
}
