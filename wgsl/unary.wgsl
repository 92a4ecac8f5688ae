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
fn tsr_celu(v: vec4f, p: vec2f) -> vec4f {
    return select(v, p.x * (exp(v / p.x) - 1.0), v < vec4f());
}
fn tsr_selu(v: vec4f, p: vec2f) -> vec4f { return p.y * tsr_elu(v, p); }
// Below -87 the factor is set to 0, so that -infinity becomes NaN, as by the definition.
fn tsr_swish(v: vec4f, p: vec2f) -> vec4f {
    let at = p.x * v;
    return v * select(1.0 / (1.0 + exp(clamp(-at, vec4f(-87.0), vec4f(87.0)))), vec4f(), at < vec4f(-87.0));
}
// log(), which yields numbers of negative ones and of 0 on some drivers, where these quotients and roots do not.
fn tsr_log(v: vec4f, p: vec2f) -> vec4f {
    let edge = select(sqrt(v), -1.0 / abs(v), v == vec4f());
    return tsr_keep_nan(v, select(log(v), edge, v <= vec4f()));
}
fn tsr_softplus(v: vec4f, p: vec2f) -> vec4f {
    return tsr_keep_nan(v, max(v, vec4f()) + log(1.0 + exp(-min(abs(v), vec4f(87.0)))));
}
fn tsr_softsign(v: vec4f, p: vec2f) -> vec4f { return v / (1.0 + abs(v)); }
fn tsr_thresholded_relu(v: vec4f, p: vec2f) -> vec4f { return select(v, vec4f(), v <= vec4f(p.x)); }
fn tsr_shrink(v: vec4f, p: vec2f) -> vec4f {
    let low = select(vec4f(), v + p.y, v < vec4f(-p.x));
    return tsr_keep_nan(v, select(low, v - p.y, v > vec4f(p.x)));
}
fn tsr_abs(v: vec4f, p: vec2f) -> vec4f { return abs(v); }
fn tsr_sign(v: vec4f, p: vec2f) -> vec4f { return tsr_keep_nan(v, sign(v)); }
fn tsr_reciprocal(v: vec4f, p: vec2f) -> vec4f { return 1.0 / v; }
fn tsr_sqrt(v: vec4f, p: vec2f) -> vec4f { return tsr_keep_nan(v, sqrt(v)); }
fn tsr_ceil(v: vec4f, p: vec2f) -> vec4f { return ceil(v); }
fn tsr_floor(v: vec4f, p: vec2f) -> vec4f { return floor(v); }
fn tsr_round(v: vec4f, p: vec2f) -> vec4f { return round(v); }
// Binary operators whose other operand is a constant number.
fn tsr_add_number(v: vec4f, p: vec2f) -> vec4f { return v + p.x; }
fn tsr_sub_number(v: vec4f, p: vec2f) -> vec4f { return v - p.x; }
fn tsr_mul_number(v: vec4f, p: vec2f) -> vec4f { return v * p.x; }
fn tsr_div_number(v: vec4f, p: vec2f) -> vec4f { return v / p.x; }
fn tsr_square(v: vec4f, p: vec2f) -> vec4f { return v * v; }

// On many GPUs sin() and the like have few bits: 2^-11 is allowed. The polynomials and the limits between them are those of
// Stephen Moshier's Cephes library (sinf, asinf, atanf, asinhf, acoshf, atanhf, erff): errors below 2^-22.
fn tsr_with_sign(v: vec4f, result: vec4f) -> vec4f { return select(result, -result, v < vec4f()); }
// Of v and that many quarters of a turn. pi / 2 in three parts, of which the first two times j are exact.
fn tsr_sine(v: vec4f, quarters: f32) -> vec4f {
    let j = floor(v * 0.63661977 + 0.5);
    let y = v - j * 1.5703125 - j * 4.83751297e-4 - j * 7.54978995e-8;
    let z = y * y;
    let s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * y + y;
    let c = ((2.4433157118e-5 * z - 1.3887316255e-3) * z + 4.1666645683e-2) * z * z - 0.5 * z + 1.0;
    let turned = j + quarters;
    let quarter = turned - 4.0 * floor(turned * 0.25);
    let odd = quarter - 2.0 * floor(quarter * 0.5);
    let r = select(s, c, odd > vec4f(0.5));
    return select(r, -r, quarter > vec4f(1.5));
}
fn tsr_sin(v: vec4f, p: vec2f) -> vec4f { return tsr_sine(v, 0.0); }
fn tsr_cos(v: vec4f, p: vec2f) -> vec4f { return tsr_sine(v, 1.0); }
fn tsr_tan(v: vec4f, p: vec2f) -> vec4f { return tsr_sine(v, 0.0) / tsr_sine(v, 1.0); }
// Of a = 0 .. 1.
fn tsr_arc_sine(a: vec4f) -> vec4f {
    let far = a > vec4f(0.5);
    let z = select(a * a, 0.5 - 0.5 * a, far);
    let x = select(a, sqrt(z), far);
    let r = ((((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z +
        1.6666752422e-1) * z * x + x;
    return select(r, 1.57079633 - 2.0 * r, far);
}
fn tsr_asin(v: vec4f, p: vec2f) -> vec4f { return tsr_with_sign(v, tsr_arc_sine(abs(v))); }
fn tsr_acos(v: vec4f, p: vec2f) -> vec4f {
    let a = abs(v);
    let far = a > vec4f(0.5);
    let r = tsr_arc_sine(select(a, sqrt(0.5 - 0.5 * a), far));
    let near = 1.57079633 - tsr_with_sign(v, r);
    return select(near, select(2.0 * r, 3.14159265 - 2.0 * r, v < vec4f()), far);
}
fn tsr_atan(v: vec4f, p: vec2f) -> vec4f {
    let a = abs(v);
    let beyond = a > vec4f(0.41421356);
    let far = a > vec4f(2.41421356);
    let x = select(select(a, (a - 1.0) / (a + 1.0), beyond), -1.0 / a, far);
    let z = x * x;
    let r = (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1) * z * x + x;
    return tsr_with_sign(v, r + select(select(vec4f(), vec4f(0.785398163), beyond), vec4f(1.57079633), far));
}
// exp(|v| / 2), whose square overflows no earlier than the result does.
fn tsr_half_exp(v: vec4f) -> vec4f { return exp(0.5 * min(abs(v), vec4f(180.0))); }
fn tsr_sinh(v: vec4f, p: vec2f) -> vec4f {
    let e = tsr_half_exp(v);
    let s = v * v;
    let far = 0.5 * e * e - 0.5 / e / e;
    let near = v * (1.0 + s * (1.0 / 6.0 + s * (1.0 / 120.0 + s * (1.0 / 5040.0))));
    return tsr_keep_nan(v, select(near, tsr_with_sign(v, far), s > vec4f(0.25)));
}
fn tsr_cosh(v: vec4f, p: vec2f) -> vec4f {
    let e = tsr_half_exp(v);
    return tsr_keep_nan(v, 0.5 * e * e + 0.5 / e / e);
}
fn tsr_asinh(v: vec4f, p: vec2f) -> vec4f {
    let a = abs(v);
    let z = a * a;
    let near = (((2.0122003309e-2 * z - 4.2699340972e-2) * z + 7.4847586088e-2) * z - 1.6666288134e-1) * z * a + a;
    let far = select(log(a + sqrt(z + 1.0)), log(a) + 0.693147181, a > vec4f(1500.0));
    return tsr_keep_nan(v, tsr_with_sign(v, select(near, far, a > vec4f(0.5))));
}
fn tsr_acosh(v: vec4f, p: vec2f) -> vec4f {
    let z = v - 1.0;
    let near = sqrt(z) * ((((1.7596881071e-3 * z - 7.5272886713e-3) * z + 2.6454905019e-2) * z - 1.1784741703e-1) * z +
        1.4142135263);
    let far = select(log(v + sqrt(z * (v + 1.0))), log(v) + 0.693147181, v > vec4f(1500.0));
    return tsr_keep_nan(v, select(near, far, z > vec4f(0.5)));
}
fn tsr_atanh(v: vec4f, p: vec2f) -> vec4f {
    let a = abs(v);
    let z = a * a;
    let far = 0.5 * tsr_log((1.0 + a) / (1.0 - a), p);
    let near = ((((1.81740078349e-1 * z + 8.24370301058e-2) * z + 1.46691431730e-1) * z + 1.99782164500e-1) * z +
        3.33337300303e-1) * z * a + a;
    return tsr_keep_nan(v, tsr_with_sign(v, select(near, far, a > vec4f(0.5))));
}
// Beyond 1: Abramowitz and Stegun, 7.1.26, with an error of 1.5e-7.
fn tsr_erf(v: vec4f, p: vec2f) -> vec4f {
    let z = v * v;
    let a = min(abs(v), vec4f(5.0));
    let t = 1.0 / (1.0 + 0.3275911 * a);
    let near = a * ((((((7.853861353e-5 * z - 8.010193625e-4) * z + 5.188327686e-3) * z - 2.685381194e-2) * z +
        1.128358515e-1) * z - 3.761262582e-1) * z + 1.128379167);
    let far = 1.0 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * exp(-a * a);
    return tsr_keep_nan(v, tsr_with_sign(v, select(near, far, a > vec4f(1.0))));
}
fn tsr_gelu(v: vec4f, p: vec2f) -> vec4f {
    var inner = tsr_erf(v * 0.707106781, p);
    if (p.x != 0.0) {
        inner = tsr_tanh(0.797884561 * (v + 0.044715 * v * v * v), p);
    }
    return 0.5 * v * (1.0 + inner);
}

// Conversions between element types, which are all held in floats: p is the smallest and the largest value of the result.
// Into p.x to p.y; a quotient that rounding took past an integer is made up for.
fn tsr_wrap(v: vec4f, p: vec2f) -> vec4f {
    let size = p.y - p.x + 1.0;
    let r = v - floor((v - p.x) / size) * size;
    return r + size * (vec4f(r < vec4f(p.x)) - vec4f(r > vec4f(p.y)));
}
fn tsr_truncate(v: vec4f, p: vec2f) -> vec4f {
    return select(clamp(trunc(v), vec4f(p.x), vec4f(p.y)), vec4f(), tsr_nan_mask(v));
}
fn tsr_is_true(v: vec4f, p: vec2f) -> vec4f { return select(vec4f(1.0), vec4f(), v == vec4f()); }
// p: whether infinity is looked for, and -infinity.
fn tsr_is_inf(v: vec4f, p: vec2f) -> vec4f {
    return p.x * vec4f(v > vec4f(3.402823e38)) + p.y * vec4f(v < vec4f(-3.402823e38));
}
fn tsr_is_nan(v: vec4f, p: vec2f) -> vec4f { return vec4f(tsr_nan_mask(v)); }
// Of integers of 8 bits.
fn tsr_bitwise_not(v: vec4f, p: vec2f) -> vec4f { return -1.0 - v; }
