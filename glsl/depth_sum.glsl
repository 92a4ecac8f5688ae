// Volumes, whose depths are stored one below the other, of a transposed convolution's taps along the depth: channel
// c * window_z.kernel + i of image n * depth + d of X is what tap i makes of depth d.
float element(int n, int c, int y, int x) {
    int depth = tsr_quotient(y, u.X_H), row = y - depth * u.X_H;
    float sum = 0.0;
    for (int i = 0; i < u.window_z.kernel; i++) {
        int from = depth + u.window_z.pad - i * u.window_z.dilation, d = tsr_quotient(max(from, 0), u.window_z.stride);
        bool inside = from >= 0 && d * u.window_z.stride == from && d < u.depth;
        float v = X_at(n * u.depth + (inside ? d : 0), c * u.window_z.kernel + i, row, x);
        sum += inside ? v : 0.0;
    }
    return sum;
}
#include element
