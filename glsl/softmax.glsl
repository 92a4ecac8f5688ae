// Softmax's last step: exp(a - maximum) / sum; both were made by glsl/reduce.glsl.
vec4 kernel(int n, int t, int y, int x) {
    return exp(A_own(n, t, y, x) - B_broadcast(n, t, y, x)) / C_broadcast(n, t, y, x);
}
