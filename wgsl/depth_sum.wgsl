// Volumes, whose depths are stored one below the other, of a transposed convolution's taps along the depth: channel
// c * window_z.kernel + i of image n * depth + d of X is what tap i makes of depth d. One loop for the four channels of a texel.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let c = min(4 * t + vec4i(0, 1, 2, 3), vec4i(u.O_C - 1)) * u.window_z.kernel; // padding channels: any value
    let depth = y / u.X_H;
    let row = y - depth * u.X_H;
    var sum = vec4f();
    for (var i = 0; i < u.window_z.kernel; i++) {
        let d_begin = depth + u.window_z.pad - i * u.window_z.dilation;
        let d = max(d_begin, 0) / u.window_z.stride;
        let inside = d_begin >= 0 && d * u.window_z.stride == d_begin && d < u.depth;
        let k = n * u.depth + select(0, d, inside);
        let v = vec4f(X_at(k, c.x + i, row, x), X_at(k, c.y + i, row, x), X_at(k, c.z + i, row, x), X_at(k, c.w + i, row, x));
        sum += select(vec4f(), v, inside);
    }
    return sum;
}
