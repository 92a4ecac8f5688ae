// A dense array of the tensor's elements, row-major or with the channels last. A texel of the output holds four of them, or
// the bytes of two halves, or four bytes.
ivec4 place(int i) {
#if CHANNELS_LAST
    int pixel = tsr_quotient(i, u.X_C), row = tsr_quotient(pixel, u.X_W), image = tsr_quotient(row, u.X_H);
    return ivec4(image, i - pixel * u.X_C, row - image * u.X_H, pixel - row * u.X_W);
#else
    int row = tsr_quotient(i, u.X_W), plane = tsr_quotient(row, u.X_H), image = tsr_quotient(plane, u.X_C);
    return ivec4(image, plane - image * u.X_C, row - plane * u.X_H, i - row * u.X_W);
#endif
}
float element(int i) {
    ivec4 p = place(min(i, u.count - 1));
    return X_at(p.x, p.y, p.z, p.w);
}
vec4 elements(int i) {
#if ALIGNED // all four are in one row
    ivec4 p = place(i);
    return vec4(X_at(p.x, p.y, p.z, p.w), X_at(p.x, p.y, p.z, p.w + 1), X_at(p.x, p.y, p.z, p.w + 2),
                X_at(p.x, p.y, p.z, p.w + 3));
#else
    return vec4(element(i), element(i + 1), element(i + 2), element(i + 3));
#endif
}
vec4 kernel(int n, int t, int y, int x) {
#if ELEMENT == 0
    return elements(4 * x);
#elif ELEMENT == 1
    uint bits = packHalf2x16(vec2(element(2 * x), element(2 * x + 1)));
    return vec4((uvec4(bits) >> uvec4(0, 8, 16, 24)) & 255u) / 255.0;
#elif ELEMENT == 3
    return vec4(notEqual(elements(4 * x), vec4(0.0))) / 255.0;
#else
    return clamp(floor(elements(4 * x) + 0.5), 0.0, 255.0) / 255.0;
#endif
}
