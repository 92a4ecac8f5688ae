// Softmax's last step: exp(a - maximum) / sum.
//   BOTH 1: over channels; glsl/softmax_sum.glsl made both, the maximum perhaps a little smaller
//   BOTH 0: glsl/reduce.glsl made each of them; COLUMNS 1: over columns too, which leaves one texel a row, asked for in
//           the same words for every plane, so that it is fetched once
vec4 kernel(int n, int t, int y, int x) {
#if BOTH
    vec4 both = B_fetch(n, y, x);
    return exp(A_own(n, t, y, x) - both.x) / both.y;
#else
    int column = COLUMNS == 1 ? 0 : x;
    return exp(A_own(n, t, y, x) - B_broadcast(n, t, y, column)) / C_broadcast(n, t, y, column);
#endif
}
