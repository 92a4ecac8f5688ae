// Binary operators, one function each.
fn tsr_add(a: vec4f, b: vec4f) -> vec4f { return a + b; }
// b with a factor p.x and a zero point p.y: a sum onto a quantised tensor.
fn tsr_add_scaled(a: vec4f, b: vec4f, p: vec2f) -> vec4f { return a + p.x * (b - p.y); }
// The gradient of LeakyRelu's input from that of its result, a, and the input or result b; p.x is alpha.
fn tsr_leaky_relu_grad(a: vec4f, b: vec4f, p: vec2f) -> vec4f { return a * select(vec4f(p.x), vec4f(1.0), b > vec4f()); }
fn tsr_sub(a: vec4f, b: vec4f) -> vec4f { return a - b; }
fn tsr_mul(a: vec4f, b: vec4f) -> vec4f { return a * b; }
fn tsr_div(a: vec4f, b: vec4f) -> vec4f { return a / b; }
fn tsr_prelu(a: vec4f, slope: vec4f) -> vec4f { return select(a, slope * a, a < vec4f()); }
// Of integers of 8 bits, rounded toward zero. The half keeps the quotient away from integers, however inexact it is.
fn tsr_div_bytes(a: vec4f, b: vec4f) -> vec4f { return floor((abs(a) + 0.5) / abs(b)) * sign(a) * sign(b); }
// fmod(): the quotient may be rounded up to the next integer, or down.
fn tsr_mod(a: vec4f, b: vec4f) -> vec4f {
    var r = abs(a) - abs(b) * floor(abs(a) / abs(b));
    r = select(r, r + abs(b), r < vec4f());
    r = select(r, r - abs(b), r >= abs(b));
    return select(select(r, -r, a < vec4f()), a, abs(a) < abs(b)); // of an infinite b, too
}
// Of integers of 8 bits: the remainder with the sign of a, and of b.
fn tsr_fmod_bytes(a: vec4f, b: vec4f) -> vec4f { return a - b * tsr_div_bytes(a, b); }
fn tsr_mod_bytes(a: vec4f, b: vec4f) -> vec4f {
    let r = tsr_fmod_bytes(a, b);
    return select(r, r + b, r * b < vec4f());
}
// As C's pow(); WGSL's is undefined for negative a. If a is negative, odd integers b give a negative result, and fractional b
// give NaN (that of sqrt()) unless a is infinite. log2(0) is not -infinity on every driver. Squares are exact.
fn tsr_pow(a: vec4f, b: vec4f) -> vec4f {
    let size = abs(a);
    let negative = a < vec4f();
    let fractional = b != floor(b);
    let odd = floor(0.5 * b) * 2.0 != b;
    let infinite = abs(b) > vec4f(3.402823466e38);
    var power = exp2(b * log2(size));
    power = select(power, select(vec4f(), 1.0 / size, b < vec4f()), size == vec4f());
    power = select(power, -power, negative & odd & !fractional);
    power = select(power, sqrt(a), negative & fractional & (size <= vec4f(3.402823466e38)));
    power = tsr_keep_nan(a, tsr_keep_nan(b, select(power, a * a, b == vec4f(2.0))));
    return select(power, vec4f(1.0), (b == vec4f()) | (a == vec4f(1.0)) | ((size == vec4f(1.0)) & infinite));
}
fn tsr_max(a: vec4f, b: vec4f) -> vec4f { return select(b, a, tsr_larger(a, b)); }
fn tsr_min(a: vec4f, b: vec4f) -> vec4f { return -tsr_max(-a, -b); }
fn tsr_equal(a: vec4f, b: vec4f) -> vec4f { return vec4f(a == b); }
fn tsr_greater(a: vec4f, b: vec4f) -> vec4f { return vec4f(a > b); }
fn tsr_greater_or_equal(a: vec4f, b: vec4f) -> vec4f { return vec4f(a >= b); }
fn tsr_less(a: vec4f, b: vec4f) -> vec4f { return vec4f(a < b); }
fn tsr_less_or_equal(a: vec4f, b: vec4f) -> vec4f { return vec4f(a <= b); }
fn tsr_and(a: vec4f, b: vec4f) -> vec4f { return a * b; }
fn tsr_or(a: vec4f, b: vec4f) -> vec4f { return max(a, b); }
fn tsr_xor(a: vec4f, b: vec4f) -> vec4f { return abs(a - b); }
// Of integers of 8 bits.
fn tsr_bitwise_and(a: vec4f, b: vec4f) -> vec4f { return vec4f(vec4i(a) & vec4i(b)); }
fn tsr_bitwise_or(a: vec4f, b: vec4f) -> vec4f { return vec4f(vec4i(a) | vec4i(b)); }
fn tsr_bitwise_xor(a: vec4f, b: vec4f) -> vec4f { return vec4f(vec4i(a) ^ vec4i(b)); }
fn tsr_bit_shift(a: vec4f, b: vec4f) -> vec4f { return vec4f(vec4i(a) << vec4u(min(b, vec4f(8.0)))); }
fn tsr_shift_right(a: vec4f, b: vec4f) -> vec4f { return vec4f(vec4i(a) >> vec4u(min(b, vec4f(8.0)))); }
