// A picture from one image of a tensor: resampled, its normalization undone. A texel of the output holds four bytes, row by
// row, without gaps. The constants are those of tensor_from_pixels.
//     DRAWN   the output is a texture or framebuffer of the caller's: a texel is a pixel, of fractions of 255 as they are
//     FLIP    its last row is the picture's first
#include resample
#include normalization
float element(int channel, int row, int column) {
#if CHANNELS_LAST
    int i = ((u.image * u.tensor.height + row) * u.tensor.width + column) * CHANNELS + channel;
#else
    int i = ((u.image * CHANNELS + channel) * u.tensor.height + row) * u.tensor.width + column;
#endif
    int line = tsr_quotient(i, u.X_W), plane = tsr_quotient(line, u.X_H), image = tsr_quotient(plane, u.X_C);
    return X_at(image, plane - image * u.X_C, line - plane * u.X_H, i - line * u.X_W);
}
vec4 channels(int row, int column) {
#if WHOLE // channel 0 of the pixel is in channel 0 of the texel
    int i = (u.image * u.tensor.height + row) * u.tensor.width + column;
    int line = tsr_quotient(i, u.X_W), image = tsr_quotient(line, u.X_H);
    return X_fetch(image * u.X_tiles, line - image * u.X_H, i - line * u.X_W);
#elif CHANNELS == 1
    return vec4(element(0, row, column));
#elif CHANNELS == 3
    return vec4(element(0, row, column), element(1, row, column), element(2, row, column), 0.0);
#else
    return vec4(element(0, row, column), element(1, row, column), element(2, row, column), element(3, row, column));
#endif
}
// Red, green, blue, alpha of pixel i of the picture, 0 to 255.
vec4 color(int i) {
    int y = tsr_quotient(i, u.pixels.width), x = i - y * u.pixels.width;
    ivec3 ys = taps(y, u.tensor.height, u.pixels.height), xs = taps(x, u.tensor.width, u.pixels.width);
    vec4 sum = vec4(0.0);
    for (int row = ys.x; row <= ys.y; row++) {
        vec4 line = vec4(0.0);
        for (int column = xs.x; column <= xs.y; column++)
            line += weight(column, xs, x, u.tensor.width, u.pixels.width) *
                    channels(clamp(row, 0, u.tensor.height - 1), clamp(column, 0, u.tensor.width - 1));
        sum += weight(row, ys, y, u.tensor.height, u.pixels.height) * line;
    }
    sum = sum / scale() + mean();
#if CHANNELS == 1
    sum = vec4(sum.xxx, 255.0);
#elif CHANNELS == 3
    sum.w = 255.0;
#endif
#if SWAP
    return sum.zyxw;
#else
    return sum;
#endif
}
#if PIXEL_BYTES < 4
// Byte i of the picture.
float byte(int i) {
#if PIXEL_BYTES == 1
    return luma(color(i));
#else
    vec4 v = color(i / 3);
    int channel = i % 3;
    return channel == 0 ? v.x : channel == 1 ? v.y : v.z;
#endif
}
#endif
vec4 kernel(int n, int t, int y, int x) {
#if FLIP
    int i = (u.O_H - 1 - y) * u.O_W + x;
#else
    int i = y * u.O_W + x;
#endif
#if PIXEL_BYTES == 4
    vec4 v = color(i);
#else
    int last = u.pixels.width * u.pixels.height * PIXEL_BYTES - 1;
    vec4 v = vec4(byte(4 * i), byte(min(4 * i + 1, last)), byte(min(4 * i + 2, last)), byte(min(4 * i + 3, last)));
#endif
#if DRAWN
    return v / 255.0;
#else
    return clamp(floor(v + 0.5), 0.0, 255.0) / 255.0;
#endif
}
