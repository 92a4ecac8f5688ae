// Each depth of a volume, whose depths are stored one below the other, as an image: channel c * window_z.kernel + i of image
// n * out_depth + d is what tap i of a window along the depth has at position d; zero outside.
//   WHOLE 1    a window of one tap: whole texels
//   depth      of the input
fn depth_at(image: i32, tap: i32) -> i32 {
    return image * u.window_z.stride - u.window_z.pad + tap * u.window_z.dilation;
}

#if WHOLE
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let image = n / u.out_depth;
    let d = depth_at(n - image * u.out_depth, 0);
    let inside = d >= 0 && d < u.depth;
    return select(vec4f(), X_fetch(image * u.X_tiles + t, select(0, d, inside) * u.O_H + y, x), inside);
}
#else
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let image = n / u.out_depth;
    let channel = c / u.window_z.kernel;
    let d = depth_at(n - image * u.out_depth, c - channel * u.window_z.kernel);
    let inside = d >= 0 && d < u.depth;
    return select(0.0, X_at(image, channel, select(0, d, inside) * u.O_H + y, x), inside);
}
#endif
