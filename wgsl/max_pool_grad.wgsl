// The gradient of MaxPool's input: a pixel sums the gradients G of the results of those windows whose maximum it is. I has the
// maximum's tap in each window. Depths are one below the other.
//   height, out_height, out_depth   rows of a depth of the output and of G, depths of G

// The first window of an axis that a tap at `at`, counted from the padding, is in, and the end of these windows.
fn windows_at(at: i32, kernel: i32, stride: i32, dilation: i32, count: i32) -> vec2i {
    let before = at - (kernel - 1) * dilation; // where the first one begins at the earliest
    return vec2i(select((before - 1) / stride + 1, 0, before <= 0), min(at / stride + 1, count));
}
// Which tap of window `i` that is; -1: none, it is between two.
fn tap_of(at: i32, i: i32, stride: i32, dilation: i32) -> i32 {
    let distance = at - i * stride;
    let tap = distance / dilation;
    return select(-1, tap, tap * dilation == distance);
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let depth = y / u.height;
    let z = depth + u.window_z.pad;
    let row = y - depth * u.height + u.window_y.pad;
    let column = x + u.window_x.pad;
    let depths = windows_at(z, u.window_z.kernel, u.window_z.stride, u.window_z.dilation, u.out_depth);
    let rows = windows_at(row, u.window_y.kernel, u.window_y.stride, u.window_y.dilation, u.out_height);
    let columns = windows_at(column, u.window_x.kernel, u.window_x.stride, u.window_x.dilation, u.G_W);
    var sum = vec4f();
    for (var oz = depths.x; oz < depths.y; oz++) {
        let kz = tap_of(z, oz, u.window_z.stride, u.window_z.dilation);
        for (var oy = rows.x; oy < rows.y; oy++) {
            let ky = tap_of(row, oy, u.window_y.stride, u.window_y.dilation);
            for (var ox = columns.x; ox < columns.y; ox++) {
                let kx = tap_of(column, ox, u.window_x.stride, u.window_x.dilation);
                let line = oz * u.out_height + oy;
                if (min(kz, min(ky, kx)) < 0) {
                    continue;
                }
                let tap = vec4f(f32((kz * u.window_y.kernel + ky) * u.window_x.kernel + kx));
                let is_maximum = I_fetch(n * u.I_tiles + t, line, ox) == tap;
                sum += select(vec4f(), G_fetch(n * u.G_tiles + t, line, ox), is_maximum);
            }
        }
    }
    return sum;
}
