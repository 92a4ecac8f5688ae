// Softmax's last step: exp(a - maximum) / sum; both were made by glsl/reduce.glsl. COLUMNS 1: over columns too, which
// leaves one texel a row, asked for in the same words for every plane, so that it is fetched once.
vec4 kernel(int n, int t, int y, int x) {
    int column = COLUMNS == 1 ? 0 : x;
    return exp(A_own(n, t, y, x) - B_broadcast(n, t, y, column)) / C_broadcast(n, t, y, column);
}
