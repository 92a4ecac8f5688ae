// Which channel of each pixel has the largest element.
//   LEAST 1   the least
//   LAST 1    the last of equal ones; 0: the first
vec4 kernel(int n, int t, int y, int x) {
    float best = 0.0, index = -1.0;
    for (int tile = 0; tile < u.X_tiles; tile++) {
        vec4 v = X_fetch(n * u.X_tiles + tile, y, x);
#if LEAST
        v = -v;
#endif
#for c 4
        {
            float a = v[$c];
            bool better = LAST == 1 ? a >= best : a > best;
            better = isnan(best) ? isnan(a) && LAST == 1 : better || isnan(a);
            if (4 * tile + $c < u.X_C && (better || index < 0.0)) {
                best = a;
                index = float(4 * tile + $c);
            }
        }
#endfor
    }
    return vec4(index, 0.0, 0.0, 0.0);
}
