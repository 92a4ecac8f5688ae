// One image of a tensor from a picture of the caller's: resampled, channels chosen, normalized.
//     PIXEL_BYTES   of a pixel: 1, 3 or 4
//     ALIGNED       pixels are words of the table
//     SWAP          red and blue change places
//     CHANNELS      of the tensor: 1, 3 or 4
//     WHOLE         a texel of the tensor holds the channels of one pixel
#include words
#include resample
#include normalization
fn color(y: i32, x: i32) -> vec4f {
    let i = y * u.stride + x * PIXEL_BYTES;
#if ALIGNED
    let v = words4(i >> 2);
#elif PIXEL_BYTES == 4
    let v = vec4f(word(i), word(i + 1), word(i + 2), word(i + 3));
#elif PIXEL_BYTES == 3
    let v = vec4f(word(i), word(i + 1), word(i + 2), 1);
#else
    let v = vec4f(vec3f(word(i)), 1);
#endif
#if SWAP
    return v.zyxw * 255;
#else
    return v * 255;
#endif
}
// The channels of the tensor's pixel.
fn pixel(row: i32, column: i32) -> vec4f {
    let ys = taps(row, u.pixels.height, u.tensor.height);
    let xs = taps(column, u.pixels.width, u.tensor.width);
    var sum = vec4f();
    for (var y = ys.x; y <= ys.y; y++) {
        var line = vec4f();
        for (var x = xs.x; x <= xs.y; x++) {
            line += weight(x, xs, column, u.pixels.width, u.tensor.width) *
                    color(clamp(y, 0, u.pixels.height - 1), clamp(x, 0, u.pixels.width - 1));
        }
        sum += weight(y, ys, row, u.pixels.height, u.tensor.height) * line;
    }
#if CHANNELS == 1
    sum = vec4f(luma(sum));
#endif
    return (sum - mean()) * scale();
}
// Image, row, column and channel of an element.
fn place(n: i32, c: i32, y: i32, x: i32) -> vec4i {
    let i = ((n * u.O_C + c) * u.O_H + y) * u.O_W + x;
#if CHANNELS_LAST
    let at = i / CHANNELS;
    let row = at / u.tensor.width;
    let image = row / u.tensor.height;
    return vec4i(image, row - image * u.tensor.height, at - row * u.tensor.width, i - at * CHANNELS);
#else
    let row = i / u.tensor.width;
    let plane = row / u.tensor.height;
    let image = plane / CHANNELS;
    return vec4i(image, row - plane * u.tensor.height, i - row * u.tensor.width, plane - image * CHANNELS);
#endif
}
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let p = place(n, min(c, u.O_C - 1), y, x);
    return pixel(p.y, p.z)[p.w];
}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let i = i32((group.y * groups.x + group.x) * 64 + invocation);
    if (i >= u.O_texels) {
        return;
    }
    let o = O_position(i);
    let p = place(o.x, 4 * o.y, o.z, o.w);
    if (p.x != u.image) {
        return;
    }
#if WHOLE
    store(o.x, o.y, o.z, o.w, pixel(p.y, p.z));
#else
    store(o.x, o.y, o.z, o.w, vec4f(element(o.x, 4 * o.y, o.z, o.w), element(o.x, 4 * o.y + 1, o.z, o.w),
                                    element(o.x, 4 * o.y + 2, o.z, o.w), element(o.x, 4 * o.y + 3, o.z, o.w)));
#endif
}
