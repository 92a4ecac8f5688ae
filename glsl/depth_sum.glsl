// Volumes, whose depths are stored one below the other, of a transposed convolution's taps along the depth: channel
// c * window_z.kernel + i of image n * depth + d of X is what tap i makes of depth d. One loop for the four channels of a
// texel: LLVM's analysis of many loops one after another takes minutes.
vec4 kernel(int n, int t, int y, int x) {
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), u.O_C - 1) * u.window_z.kernel; // padding channels: any value
    int depth = tsr_quotient(y, u.X_H), row = y - depth * u.X_H;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.window_z.kernel; i++) {
        int from = depth + u.window_z.pad - i * u.window_z.dilation, d = tsr_quotient(max(from, 0), u.window_z.stride);
        bool inside = from >= 0 && d * u.window_z.stride == from && d < u.depth;
        int k = n * u.depth + (inside ? d : 0);
        vec4 v = vec4(X_at(k, c.x + i, row, x), X_at(k, c.y + i, row, x), X_at(k, c.z + i, row, x), X_at(k, c.w + i, row, x));
        sum += inside ? v : vec4(0.0);
    }
    return sum;
}
