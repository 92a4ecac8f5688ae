// Softmax's last step: exp(x - origin) / sum, with both in `sums`, the result of glsl/softmax_sum.glsl.
//   LOGS 1       the logarithm of that
//   FOLD 1       over channels; 0: not
//   COLUMNS 1    over columns, too: one for each row, fetched by the same expression for every plane, so that compilers
//                merge the fetches
vec4 finish(vec4 difference, vec4 sum) {
#if LOGS
    return difference - log(sum * 256.0);
#else
    return exp(difference) / (sum * 256.0);
#endif
}

vec4 kernel(int n, int t, int y, int x) {
    int column = COLUMNS == 1 ? 0 : x;
#if FOLD
    vec4 both = sums_broadcast(n, t, y, column);
    return finish(X_own(n, t, y, x) - both.x, both.yyyy);
#else
    vec4 origin = sums_broadcast(n, t, y, 2 * column);
    return finish(X_own(n, t, y, x) - origin, sums_broadcast(n, t, y, 2 * column + 1));
#endif
}
