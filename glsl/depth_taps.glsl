// Each depth of a volume, whose depths are stored one below the other, as an image: channel c * window_z.kernel + i of image
// n * out_depth + d is what tap i of a window along the depth has at position d; zero outside.
//   WHOLE 1    a window of one tap: whole texels
//   depth      of the input
int depth_at(int image, int tap) { return image * u.window_z.stride - u.window_z.pad + tap * u.window_z.dilation; }

#if WHOLE
vec4 kernel(int n, int t, int y, int x) {
    int image = tsr_quotient(n, u.out_depth), d = depth_at(n - image * u.out_depth, 0);
    bool inside = d >= 0 && d < u.depth;
    vec4 v = X_fetch(image * u.X_tiles + t, (inside ? d : 0) * u.O_H + y, x);
    return inside ? v : vec4(0.0);
}
#else
float element(int n, int c, int y, int x) {
    int image = tsr_quotient(n, u.out_depth), channel = tsr_quotient(c, u.window_z.kernel);
    int d = depth_at(n - image * u.out_depth, c - channel * u.window_z.kernel);
    bool inside = d >= 0 && d < u.depth;
    float v = X_at(image, channel, (inside ? d : 0) * u.O_H + y, x);
    return inside ? v : 0.0;
}
#include element
#endif
