// Softmax's last step: exp(x - origin) / sum, both as glsl/softmax_sum.glsl has left them in `sums`.
//   FOLD 1       over channels; 0: not
//   COLUMNS 1    over columns too, which leaves one a row, asked for in the same words for every plane, so that it is
//                fetched once
vec4 kernel(int n, int t, int y, int x) {
    int column = COLUMNS == 1 ? 0 : x;
#if FOLD
    vec4 both = sums_broadcast(n, t, y, column);
    return exp(X_own(n, t, y, x) - both.x) / both.y;
#else
    vec4 origin = sums_broadcast(n, t, y, 2 * column);
    return exp(X_own(n, t, y, x) - origin) / sums_broadcast(n, t, y, 2 * column + 1);
#endif
}
