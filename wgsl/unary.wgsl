// Unary operators, one function each: p holds the operator's float attributes (tsr_unary_params).
// NaN yields NaN: see wgsl/prelude.wgsl. Comparisons with NaN are false.
fn tsr_relu(v: vec4f, p: vec2f) -> vec4f { return tsr_keep_nan(v, max(v, vec4f())); }
fn tsr_leaky_relu(v: vec4f, p: vec2f) -> vec4f { return select(v, p.x * v, v < vec4f()); }
// exp overflows above 88: clamped, since drivers differ for infinities.
fn tsr_sigmoid(v: vec4f, p: vec2f) -> vec4f {
    return tsr_keep_nan(v, 1.0 / (1.0 + exp(clamp(-v, vec4f(-87.0), vec4f(87.0)))));
}
// 1 - 2 / (e^2x + 1) cancels near zero; there the series x - x^3/3 + 2x^5/15 is exact to 1e-8.
fn tsr_tanh(v: vec4f, p: vec2f) -> vec4f {
    let far = 1.0 - 2.0 / (exp(2.0 * clamp(v, vec4f(-15.0), vec4f(15.0))) + 1.0);
    let s = v * v;
    let near = v * (1.0 - s * (1.0 / 3.0 - s * (2.0 / 15.0)));
    return select(near, far, abs(v) >= vec4f(0.05));
}
fn tsr_hard_sigmoid(v: vec4f, p: vec2f) -> vec4f {
    let line = p.x * v + p.y;
    return tsr_keep_nan(line, clamp(line, vec4f(), vec4f(1.0)));
}
fn tsr_hard_swish(v: vec4f, p: vec2f) -> vec4f { return v * clamp(v / 6.0 + 0.5, vec4f(), vec4f(1.0)); }
// v * tanh(log(1 + exp(v))) as a quotient of polynomials in exp(-|v|): nothing overflows or cancels. Beyond 87 that is set to
// 0, so that -infinity becomes NaN, as by the definition.
fn tsr_mish(v: vec4f, p: vec2f) -> vec4f {
    let far = abs(v);
    let m = select(exp(-min(far, vec4f(87.0))), vec4f(), far > vec4f(87.0));
    let s = m * m;
    let below = v < vec4f();
    let top = 2.0 * m + select(vec4f(1.0), s, below);
    return v * (top / (top + 2.0 * select(s, vec4f(1.0), below)));
}
fn tsr_exp(v: vec4f, p: vec2f) -> vec4f { return tsr_keep_nan(v, exp(v)); }
fn tsr_neg(v: vec4f, p: vec2f) -> vec4f { return -v; }
fn tsr_elu(v: vec4f, p: vec2f) -> vec4f { return select(v, p.x * (exp(min(v, vec4f())) - 1.0), v < vec4f()); }
fn tsr_clip(v: vec4f, p: vec2f) -> vec4f { return tsr_keep_nan(v, min(max(v, p.xxxx), p.yyyy)); }
fn tsr_not(v: vec4f, p: vec2f) -> vec4f { return 1.0 - v; }

// Conversions between element types, which are all held in floats: p is the smallest and the largest value of the result.
fn tsr_wrap_byte(v: vec4f, p: vec2f) -> vec4f { return v - floor((v - p.x) * (1.0 / 256.0)) * 256.0; }
fn tsr_truncate(v: vec4f, p: vec2f) -> vec4f {
    return select(clamp(trunc(v), vec4f(p.x), vec4f(p.y)), vec4f(), tsr_is_nan(v));
}
fn tsr_is_true(v: vec4f, p: vec2f) -> vec4f { return select(vec4f(1.0), vec4f(), v == vec4f()); }
