// A picture from one image of a tensor: resampled, its normalization undone. A texel of the output holds four bytes, row by
// row, without gaps, or, DRAWN, in rows of their own. The constants are those of tensor_from_pixels.
#include resample
#include normalization
fn element(channel: i32, row: i32, column: i32) -> f32 {
#if CHANNELS_LAST
    let i = ((u.image * u.tensor.height + row) * u.tensor.width + column) * CHANNELS + channel;
#else
    let i = ((u.image * CHANNELS + channel) * u.tensor.height + row) * u.tensor.width + column;
#endif
    let line = i / u.X_W;
    let plane = line / u.X_H;
    let image = plane / u.X_C;
    return X_at(image, plane - image * u.X_C, line - plane * u.X_H, i - line * u.X_W);
}
fn channels(row: i32, column: i32) -> vec4f {
#if WHOLE // channel 0 of the pixel is in channel 0 of the texel
    let i = (u.image * u.tensor.height + row) * u.tensor.width + column;
    let line = i / u.X_W;
    let image = line / u.X_H;
    return X_fetch(image * u.X_tiles, line - image * u.X_H, i - line * u.X_W);
#elif CHANNELS == 1
    return vec4f(element(0, row, column));
#elif CHANNELS == 3
    return vec4f(element(0, row, column), element(1, row, column), element(2, row, column), 0);
#else
    return vec4f(element(0, row, column), element(1, row, column), element(2, row, column), element(3, row, column));
#endif
}
// Red, green, blue, alpha of a pixel of the picture, 0 to 255.
fn color(y: i32, x: i32) -> vec4f {
    let ys = taps(y, u.tensor.height, u.pixels.height);
    let xs = taps(x, u.tensor.width, u.pixels.width);
    var sum = vec4f();
    for (var row = ys.x; row <= ys.y; row++) {
        var line = vec4f();
        for (var column = xs.x; column <= xs.y; column++) {
            line += weight(column, xs, x, u.tensor.width, u.pixels.width) *
                    channels(clamp(row, 0, u.tensor.height - 1), clamp(column, 0, u.tensor.width - 1));
        }
        sum += weight(row, ys, y, u.tensor.height, u.pixels.height) * line;
    }
    sum = sum / scale() + mean();
#if CHANNELS == 1
    sum = vec4f(sum.xxx, 255);
#elif CHANNELS == 3
    sum.w = 255;
#endif
#if SWAP
    return sum.zyxw;
#else
    return sum;
#endif
}
fn nth_color(i: i32) -> vec4f {
    let y = i / u.pixels.width;
    return color(y, i - y * u.pixels.width);
}
#if PIXEL_BYTES < 4
// Byte i of the picture.
fn byte(i: i32) -> f32 {
#if PIXEL_BYTES == 1
    return luma(nth_color(i));
#else
    return nth_color(i / 3)[i % 3];
#endif
}
#endif
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if DRAWN
    let v = color(y, x);
#elif PIXEL_BYTES == 4
    let v = nth_color(x);
#else
    let last = u.pixels.width * u.pixels.height * PIXEL_BYTES - 1;
    let v = vec4f(byte(4 * x), byte(min(4 * x + 1, last)), byte(min(4 * x + 2, last)), byte(min(4 * x + 3, last)));
#endif
    return clamp(floor(v + 0.5), vec4f(), vec4f(255)) / 255;
}
