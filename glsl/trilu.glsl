// A triangle of each image: UPPER 1: the columns from the diagonal on; 0: those up to it.
vec4 kernel(int n, int t, int y, int x) {
    int right = x - y - u.diagonal;
    return (UPPER == 1 ? right >= 0 : right <= 0) ? X_own(n, t, y, x) : vec4(0.0);
}
