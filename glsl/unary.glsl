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
vec4 tsr_celu(vec4 v, vec2 p) {
    return mix(v, p.x * (exp(v / p.x) - 1.0), lessThan(v, vec4(0.0)));
}
vec4 tsr_selu(vec4 v, vec2 p) { return p.y * tsr_elu(v, p); }
// Below -87 the factor is set to 0, so that -infinity becomes NaN, as by the definition.
vec4 tsr_swish(vec4 v, vec2 p) {
    vec4 at = p.x * v;
    return v * mix(1.0 / (1.0 + exp(clamp(-at, -87.0, 87.0))), vec4(0.0), lessThan(at, vec4(-87.0)));
}
// log(), which yields numbers of negative ones and of 0 on some drivers, where these quotients and roots do not.
vec4 tsr_log(vec4 v, vec2 p) {
    vec4 edge = mix(sqrt(v), -1.0 / abs(v), equal(v, vec4(0.0)));
    return tsr_keep_nan(v, mix(log(v), edge, lessThanEqual(v, vec4(0.0))));
}
vec4 tsr_softplus(vec4 v, vec2 p) { return tsr_keep_nan(v, max(v, 0.0) + log(1.0 + exp(-min(abs(v), 87.0)))); }
vec4 tsr_softsign(vec4 v, vec2 p) { return v / (1.0 + abs(v)); }
vec4 tsr_thresholded_relu(vec4 v, vec2 p) { return mix(v, vec4(0.0), lessThanEqual(v, vec4(p.x))); }
vec4 tsr_shrink(vec4 v, vec2 p) {
    vec4 low = mix(vec4(0.0), v + p.y, lessThan(v, vec4(-p.x)));
    return tsr_keep_nan(v, mix(low, v - p.y, greaterThan(v, vec4(p.x))));
}
vec4 tsr_abs(vec4 v, vec2 p) { return abs(v); }
vec4 tsr_sign(vec4 v, vec2 p) { return tsr_keep_nan(v, sign(v)); }
vec4 tsr_reciprocal(vec4 v, vec2 p) { return 1.0 / v; }
vec4 tsr_sqrt(vec4 v, vec2 p) { return tsr_keep_nan(v, sqrt(v)); }
vec4 tsr_ceil(vec4 v, vec2 p) { return ceil(v); }
vec4 tsr_floor(vec4 v, vec2 p) { return floor(v); }
vec4 tsr_round(vec4 v, vec2 p) { return roundEven(v); }
// Binary operators whose other operand is a constant number.
vec4 tsr_add_number(vec4 v, vec2 p) { return v + p.x; }
vec4 tsr_sub_number(vec4 v, vec2 p) { return v - p.x; }
vec4 tsr_mul_number(vec4 v, vec2 p) { return v * p.x; }
vec4 tsr_div_number(vec4 v, vec2 p) { return v / p.x; }
vec4 tsr_square(vec4 v, vec2 p) { return v * v; }

// On many GPUs sin() and the like have few bits: 2^-11 is allowed. The polynomials and the limits between them are those of
// Stephen Moshier's Cephes library (sinf, asinf, atanf, asinhf, acoshf, atanhf, erff): errors below 2^-22.
vec4 tsr_with_sign(vec4 v, vec4 result) { return mix(result, -result, lessThan(v, vec4(0.0))); }
// Of v and that many quarters of a turn. pi / 2 in three parts, of which the first two times j are exact.
vec4 tsr_sine(vec4 v, float quarters) {
    vec4 j = floor(v * 0.63661977 + 0.5);
    vec4 y = v - j * 1.5703125 - j * 4.83751297e-4 - j * 7.54978995e-8, z = y * y;
    vec4 s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * y + y;
    vec4 c = ((2.4433157118e-5 * z - 1.3887316255e-3) * z + 4.1666645683e-2) * z * z - 0.5 * z + 1.0;
    vec4 turned = j + quarters, quarter = turned - 4.0 * floor(turned * 0.25);
    vec4 odd = quarter - 2.0 * floor(quarter * 0.5), r = mix(s, c, greaterThan(odd, vec4(0.5)));
    return mix(r, -r, greaterThan(quarter, vec4(1.5)));
}
vec4 tsr_sin(vec4 v, vec2 p) { return tsr_sine(v, 0.0); }
vec4 tsr_cos(vec4 v, vec2 p) { return tsr_sine(v, 1.0); }
vec4 tsr_tan(vec4 v, vec2 p) { return tsr_sine(v, 0.0) / tsr_sine(v, 1.0); }
// Of a = 0 .. 1.
vec4 tsr_arc_sine(vec4 a) {
    bvec4 far = greaterThan(a, vec4(0.5));
    vec4 z = mix(a * a, 0.5 - 0.5 * a, far), x = mix(a, sqrt(z), far);
    vec4 r = ((((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z +
              1.6666752422e-1) * z * x + x;
    return mix(r, 1.57079633 - 2.0 * r, far);
}
vec4 tsr_asin(vec4 v, vec2 p) { return tsr_with_sign(v, tsr_arc_sine(abs(v))); }
vec4 tsr_acos(vec4 v, vec2 p) {
    vec4 a = abs(v);
    bvec4 far = greaterThan(a, vec4(0.5));
    vec4 r = tsr_arc_sine(mix(a, sqrt(0.5 - 0.5 * a), far));
    vec4 near = 1.57079633 - tsr_with_sign(v, r);
    return mix(near, mix(2.0 * r, 3.14159265 - 2.0 * r, lessThan(v, vec4(0.0))), far);
}
vec4 tsr_atan(vec4 v, vec2 p) {
    vec4 a = abs(v);
    bvec4 beyond = greaterThan(a, vec4(0.41421356)), far = greaterThan(a, vec4(2.41421356));
    vec4 x = mix(mix(a, (a - 1.0) / (a + 1.0), beyond), -1.0 / a, far), z = x * x;
    vec4 r = (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1) * z * x + x;
    return tsr_with_sign(v, r + mix(mix(vec4(0.0), vec4(0.785398163), beyond), vec4(1.57079633), far));
}
// exp(|v| / 2), whose square overflows no earlier than the result does.
vec4 tsr_half_exp(vec4 v) { return exp(0.5 * min(abs(v), 180.0)); }
vec4 tsr_sinh(vec4 v, vec2 p) {
    vec4 e = tsr_half_exp(v), s = v * v, far = 0.5 * e * e - 0.5 / e / e;
    vec4 near = v * (1.0 + s * (1.0 / 6.0 + s * (1.0 / 120.0 + s * (1.0 / 5040.0))));
    return tsr_keep_nan(v, mix(near, tsr_with_sign(v, far), greaterThan(s, vec4(0.25))));
}
vec4 tsr_cosh(vec4 v, vec2 p) {
    vec4 e = tsr_half_exp(v);
    return tsr_keep_nan(v, 0.5 * e * e + 0.5 / e / e);
}
vec4 tsr_asinh(vec4 v, vec2 p) {
    vec4 a = abs(v), z = a * a;
    vec4 near = (((2.0122003309e-2 * z - 4.2699340972e-2) * z + 7.4847586088e-2) * z - 1.6666288134e-1) * z * a + a;
    vec4 far = mix(log(a + sqrt(z + 1.0)), log(a) + 0.693147181, greaterThan(a, vec4(1500.0)));
    return tsr_keep_nan(v, tsr_with_sign(v, mix(near, far, greaterThan(a, vec4(0.5)))));
}
vec4 tsr_acosh(vec4 v, vec2 p) {
    vec4 z = v - 1.0;
    vec4 near = sqrt(z) * ((((1.7596881071e-3 * z - 7.5272886713e-3) * z + 2.6454905019e-2) * z - 1.1784741703e-1) * z +
                           1.4142135263);
    vec4 far = mix(log(v + sqrt(z * (v + 1.0))), log(v) + 0.693147181, greaterThan(v, vec4(1500.0)));
    return tsr_keep_nan(v, mix(near, far, greaterThan(z, vec4(0.5))));
}
vec4 tsr_atanh(vec4 v, vec2 p) {
    vec4 a = abs(v), z = a * a, far = 0.5 * tsr_log((1.0 + a) / (1.0 - a), p);
    vec4 near = ((((1.81740078349e-1 * z + 8.24370301058e-2) * z + 1.46691431730e-1) * z + 1.99782164500e-1) * z +
                 3.33337300303e-1) * z * a + a;
    return tsr_keep_nan(v, tsr_with_sign(v, mix(near, far, greaterThan(a, vec4(0.5)))));
}
// Beyond 1: Abramowitz and Stegun, 7.1.26, with an error of 1.5e-7.
vec4 tsr_erf(vec4 v, vec2 p) {
    vec4 z = v * v, a = min(abs(v), 5.0), t = 1.0 / (1.0 + 0.3275911 * a);
    vec4 near = a * ((((((7.853861353e-5 * z - 8.010193625e-4) * z + 5.188327686e-3) * z - 2.685381194e-2) * z +
                       1.128358515e-1) * z - 3.761262582e-1) * z + 1.128379167);
    vec4 far = 1.0 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t *
                         exp(-a * a);
    return tsr_keep_nan(v, tsr_with_sign(v, mix(near, far, greaterThan(a, vec4(1.0)))));
}
vec4 tsr_gelu(vec4 v, vec2 p) {
    vec4 inner = p.x != 0.0 ? tsr_tanh(0.797884561 * (v + 0.044715 * v * v * v), p) : tsr_erf(v * 0.707106781, p);
    return 0.5 * v * (1.0 + inner);
}

// Conversions between element types, which are all held in floats: p is the smallest and the largest value of the result.
// Into p.x to p.y; a quotient that rounding took past an integer is made up for.
vec4 tsr_wrap(vec4 v, vec2 p) {
    float size = p.y - p.x + 1.0;
    vec4 r = v - floor((v - p.x) / size) * size;
    return r + size * (vec4(lessThan(r, vec4(p.x))) - vec4(greaterThan(r, vec4(p.y))));
}
vec4 tsr_truncate(vec4 v, vec2 p) { return mix(clamp(trunc(v), p.x, p.y), vec4(0.0), isnan(v)); }
vec4 tsr_is_true(vec4 v, vec2 p) { return mix(vec4(1.0), vec4(0.0), equal(v, vec4(0.0))); }
// p: whether infinity is looked for, and -infinity.
vec4 tsr_is_inf(vec4 v, vec2 p) {
    return p.x * vec4(greaterThan(v, vec4(3.402823e38))) + p.y * vec4(lessThan(v, vec4(-3.402823e38)));
}
vec4 tsr_is_nan(vec4 v, vec2 p) { return vec4(isnan(v)); }
// Of integers of 8 bits.
vec4 tsr_bitwise_not(vec4 v, vec2 p) { return -1.0 - v; }
