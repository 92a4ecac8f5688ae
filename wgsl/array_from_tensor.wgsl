// A dense array of the tensor's elements, row-major or with the channels last. A texel of the output holds four of them, or
// the bytes of two halves, or four bytes.
fn place(i: i32) -> vec4i {
#if CHANNELS_LAST
    let pixel = i / u.X_C;
    let row = pixel / u.X_W;
    let image = row / u.X_H;
    return vec4i(image, i - pixel * u.X_C, row - image * u.X_H, pixel - row * u.X_W);
#else
    let row = i / u.X_W;
    let plane = row / u.X_H;
    let image = plane / u.X_C;
    return vec4i(image, plane - image * u.X_C, row - plane * u.X_H, i - row * u.X_W);
#endif
}
fn element(i: i32) -> f32 {
    let p = place(min(i, u.count - 1));
    return X_at(p.x, p.y, p.z, p.w);
}
fn elements(i: i32) -> vec4f {
#if ALIGNED // all four are in one row
    let p = place(i);
    return vec4f(X_at(p.x, p.y, p.z, p.w), X_at(p.x, p.y, p.z, p.w + 1), X_at(p.x, p.y, p.z, p.w + 2),
                 X_at(p.x, p.y, p.z, p.w + 3));
#else
    return vec4f(element(i), element(i + 1), element(i + 2), element(i + 3));
#endif
}
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if ELEMENT == 0
    return elements(4 * x);
#elif ELEMENT == 1
    return unpack4x8unorm(tsr_pack_half(vec2f(element(2 * x), element(2 * x + 1))));
#elif ELEMENT == 3
    let v = elements(4 * x);
    return select(vec4f(), vec4f(1.0 / 255), (v != vec4f()) | tsr_nan_mask(v));
#else
    return clamp(floor(elements(4 * x) + 0.5), vec4f(), vec4f(255)) / 255;
#endif
}
