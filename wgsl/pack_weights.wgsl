// As glsl/pack_weights.glsl.
#include flat_element
fn weight(i: i32) -> f32 {
    if (i < 0) {
        return 0;
    }
    return flat_element(i);
}
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let i = bitcast<vec4i>(table[(n * u.O_H + y) * u.O_W + x]) - 0x800000;
    let row = max(i.x, 0) / u.X_W;
    let plane = row / u.X_H;
    let image = plane / u.X_C;
    let channel = plane - image * u.X_C;
    let line = row - plane * u.X_H;
    let column = i.x - row * u.X_W;
    let pixels = u.X_H * u.X_W * vec3i(1, 2, 3);
    if (all(i.yzw - i.x == pixels) && (channel & 3) == 0 && channel + 3 < u.X_C) {
        return X_fetch(image * u.X_tiles + (channel >> 2), line, column);
    }
    return vec4f(weight(i.x), weight(i.y), weight(i.z), weight(i.w));
}
