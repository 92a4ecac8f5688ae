// One image of a tensor from a picture of the caller's: resampled, channels chosen, normalized.
//     PIXEL_BYTES   of a pixel: 1, 3 or 4
//     ALIGNED       pixels are texels of the table
//     SWAP          red and blue change places
//     CHANNELS      of the tensor: 1, 3 or 4
//     WHOLE         a texel of the tensor holds the channels of one pixel
#include words
#include resample
#include normalization
vec4 color(int y, int x) {
    int i = y * u.stride + x * PIXEL_BYTES;
#if ALIGNED
    vec4 v = words4(i >> 2);
#elif PIXEL_BYTES == 4
    vec4 v = vec4(word(i), word(i + 1), word(i + 2), word(i + 3));
#elif PIXEL_BYTES == 3
    vec4 v = vec4(word(i), word(i + 1), word(i + 2), 1.0);
#else
    vec4 v = vec4(vec3(word(i)), 1.0);
#endif
#if SWAP
    v = v.zyxw;
#endif
    return v * 255.0;
}
// The channels of the tensor's pixel.
vec4 pixel(int row, int column) {
    ivec3 ys = taps(row, u.pixels.height, u.tensor.height), xs = taps(column, u.pixels.width, u.tensor.width);
    vec4 sum = vec4(0.0);
    for (int y = ys.x; y <= ys.y; y++) {
        vec4 line = vec4(0.0);
        for (int x = xs.x; x <= xs.y; x++)
            line += weight(x, xs, column, u.pixels.width, u.tensor.width) *
                    color(clamp(y, 0, u.pixels.height - 1), clamp(x, 0, u.pixels.width - 1));
        sum += weight(y, ys, row, u.pixels.height, u.tensor.height) * line;
    }
#if CHANNELS == 1
    sum = vec4(luma(sum));
#endif
    return (sum - mean()) * scale();
}
// Image, row, column and channel of an element.
ivec4 place(int n, int c, int y, int x) {
    int i = ((n * u.O_C + c) * u.O_H + y) * u.O_W + x;
#if CHANNELS_LAST
    int at = i / CHANNELS, row = tsr_quotient(at, u.tensor.width), image = tsr_quotient(row, u.tensor.height);
    return ivec4(image, row - image * u.tensor.height, at - row * u.tensor.width, i - at * CHANNELS);
#else
    int row = tsr_quotient(i, u.tensor.width), plane = tsr_quotient(row, u.tensor.height), image = plane / CHANNELS;
    return ivec4(image, row - plane * u.tensor.height, i - row * u.tensor.width, plane - image * CHANNELS);
#endif
}
float element(int n, int c, int y, int x) {
    ivec4 p = place(n, min(c, u.O_C - 1), y, x);
    vec4 v = pixel(p.y, p.z);
    return p.w < 2 ? (p.w == 0 ? v.x : v.y) : (p.w == 2 ? v.z : v.w);
}
vec4 kernel(int n, int t, int y, int x) {
    ivec4 p = place(n, 4 * t, y, x);
    if (p.x != u.image)
        discard;
#if WHOLE
    return pixel(p.y, p.z);
#else
    return vec4(element(n, 4 * t, y, x), element(n, 4 * t + 1, y, x), element(n, 4 * t + 2, y, x),
                element(n, 4 * t + 3, y, x));
#endif
}
