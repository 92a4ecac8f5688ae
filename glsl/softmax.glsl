// Softmax's last step: exp(a - origin) / sum, both as glsl/softmax_sum.glsl has left them in B.
//   FOLD 1: over channels; 0: not
//   COLUMNS 1: over columns too, which leaves one a row, asked for in the same words for every plane, so that it is
//           fetched once
vec4 kernel(int n, int t, int y, int x) {
    int column = COLUMNS == 1 ? 0 : x;
#if FOLD
    vec4 both = B_broadcast(n, t, y, column);
    return exp(A_own(n, t, y, x) - both.x) / both.y;
#else
    vec4 origin = B_broadcast(n, t, y, 2 * column);
    return exp(A_own(n, t, y, x) - origin) / B_broadcast(n, t, y, 2 * column + 1);
#endif
}
