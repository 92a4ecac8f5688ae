// As glsl/pack_weights.glsl.
#include flat_element
fn weight(place: f32) -> f32 {
    let i = bitcast<i32>(place) - 0x800000;
    if (i < 0) {
        return 0;
    }
    return flat_element(i);
}
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let places = table[y * u.O_W + x];
    return vec4f(weight(places.x), weight(places.y), weight(places.z), weight(places.w));
}
