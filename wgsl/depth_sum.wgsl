// Volumes, whose depths are stored one below the other, of a transposed convolution's taps along the depth: channel
// c * window_z.kernel + i of image n * depth + d of X is what tap i makes of depth d.
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let depth = y / u.X_H;
    let row = y - depth * u.X_H;
    var sum = 0.0;
    for (var i = 0; i < u.window_z.kernel; i++) {
        let d_begin = depth + u.window_z.pad - i * u.window_z.dilation;
        let d = max(d_begin, 0) / u.window_z.stride;
        let inside = d_begin >= 0 && d * u.window_z.stride == d_begin && d < u.depth;
        let v = X_at(n * u.depth + select(0, d, inside), c * u.window_z.kernel + i, row, x);
        sum += select(0.0, v, inside);
    }
    return sum;
}
#include element
