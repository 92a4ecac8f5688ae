// Unary operators, one function each: p holds the operator's float attributes (tsr_unary_params).
// NaN yields NaN: see glsl/prelude.glsl. Comparisons with NaN are false.
vec4 tsr_relu(vec4 v, vec2 p) { return tsr_keep_nan(v, max(v, 0.0)); }
vec4 tsr_leaky_relu(vec4 v, vec2 p) { return mix(v, p.x * v, lessThan(v, vec4(0.0))); }
// exp overflows above 88: clamped, since drivers differ for infinities.
vec4 tsr_sigmoid(vec4 v, vec2 p) { return tsr_keep_nan(v, 1.0 / (1.0 + exp(clamp(-v, -87.0, 87.0)))); }
// 1 - 2 / (e^2x + 1) cancels near zero; there the series x - x^3/3 + 2x^5/15 is exact to 1e-8.
vec4 tsr_tanh(vec4 v, vec2 p) {
    vec4 far = 1.0 - 2.0 / (exp(2.0 * clamp(v, -15.0, 15.0)) + 1.0), s = v * v;
    vec4 near = v * (1.0 - s * (1.0 / 3.0 - s * (2.0 / 15.0)));
    return mix(near, far, greaterThanEqual(abs(v), vec4(0.05)));
}
vec4 tsr_hard_sigmoid(vec4 v, vec2 p) {
    vec4 line = p.x * v + p.y;
    return tsr_keep_nan(line, clamp(line, 0.0, 1.0));
}
vec4 tsr_hard_swish(vec4 v, vec2 p) { return v * clamp(v / 6.0 + 0.5, 0.0, 1.0); }
// v * tanh(log(1 + exp(v))) as a quotient of polynomials in exp(-|v|): nothing overflows or cancels. Beyond 87 that is set to
// 0, so that -infinity becomes NaN, as by the definition.
vec4 tsr_mish(vec4 v, vec2 p) {
    vec4 far = abs(v), m = mix(exp(-min(far, 87.0)), vec4(0.0), greaterThan(far, vec4(87.0))), s = m * m;
    bvec4 below = lessThan(v, vec4(0.0));
    vec4 top = 2.0 * m + mix(vec4(1.0), s, below);
    return v * (top / (top + 2.0 * mix(s, vec4(1.0), below)));
}
vec4 tsr_exp(vec4 v, vec2 p) { return tsr_keep_nan(v, exp(v)); }
vec4 tsr_neg(vec4 v, vec2 p) { return -v; }
vec4 tsr_elu(vec4 v, vec2 p) { return mix(v, p.x * (exp(min(v, 0.0)) - 1.0), lessThan(v, vec4(0.0))); }
vec4 tsr_clip(vec4 v, vec2 p) { return tsr_keep_nan(v, min(max(v, p.x), p.y)); }
vec4 tsr_not(vec4 v, vec2 p) { return 1.0 - v; }

// Conversions between element types, which are all held in floats: p is the smallest and the largest value of the result.
vec4 tsr_wrap_byte(vec4 v, vec2 p) { return v - floor((v - p.x) * (1.0 / 256.0)) * 256.0; }
vec4 tsr_truncate(vec4 v, vec2 p) { return mix(clamp(trunc(v), p.x, p.y), vec4(0.0), isnan(v)); }
vec4 tsr_is_true(vec4 v, vec2 p) { return mix(vec4(1.0), vec4(0.0), equal(v, vec4(0.0))); }
