// Binary operators, one function each.
vec4 tsr_add(vec4 a, vec4 b) { return a + b; }
// b with a factor p.x and a zero point p.y: a sum onto a quantised tensor.
vec4 tsr_add_scaled(vec4 a, vec4 b, vec2 p) { return a + p.x * (b - p.y); }
// The gradient of LeakyRelu's input from that of its result, a, and the input or result b; p.x is alpha.
vec4 tsr_leaky_relu_grad(vec4 a, vec4 b, vec2 p) { return a * mix(vec4(p.x), vec4(1.0), greaterThan(b, vec4(0.0))); }
vec4 tsr_sub(vec4 a, vec4 b) { return a - b; }
vec4 tsr_mul(vec4 a, vec4 b) { return a * b; }
vec4 tsr_div(vec4 a, vec4 b) { return a / b; }
vec4 tsr_prelu(vec4 a, vec4 slope) { return mix(a, slope * a, lessThan(a, vec4(0.0))); }
// Of integers of 8 bits, rounded toward zero. The half keeps the quotient away from integers, however inexact it is.
vec4 tsr_div_bytes(vec4 a, vec4 b) { return floor((abs(a) + 0.5) / abs(b)) * sign(a) * sign(b); }
// fmod(): the quotient may be rounded up to the next integer, or down.
vec4 tsr_mod(vec4 a, vec4 b) {
    vec4 r = abs(a) - abs(b) * floor(abs(a) / abs(b));
    r = mix(r, r + abs(b), lessThan(r, vec4(0.0)));
    r = mix(r, r - abs(b), greaterThanEqual(r, abs(b)));
    return mix(mix(r, -r, lessThan(a, vec4(0.0))), a, lessThan(abs(a), abs(b))); // of an infinite b, too
}
// Of integers of 8 bits: the remainder with the sign of a, and of b.
vec4 tsr_fmod_bytes(vec4 a, vec4 b) { return a - b * tsr_div_bytes(a, b); }
vec4 tsr_mod_bytes(vec4 a, vec4 b) {
    vec4 r = tsr_fmod_bytes(a, b);
    return mix(r, r + b, lessThan(r * b, vec4(0.0)));
}
// As C's pow(); GLSL's is undefined for negative a. If a is negative, odd integers b give a negative result, and fractional b
// give NaN (that of sqrt()) unless a is infinite. log2(0) is not -infinity on every driver. Squares are exact.
vec4 tsr_pow(vec4 a, vec4 b) {
    vec4 size = abs(a), power = exp2(b * log2(size));
    uvec4 negative = uvec4(lessThan(a, vec4(0.0))), fractional = uvec4(notEqual(floor(b), b));
    uvec4 odd = uvec4(notEqual(2.0 * floor(0.5 * b), b)) & ~fractional;
    power = mix(power, mix(vec4(0.0), 1.0 / size, lessThan(b, vec4(0.0))), equal(size, vec4(0.0)));
    power = mix(power, -power, bvec4(negative & odd));
    power = mix(power, sqrt(a), bvec4(negative & fractional & ~uvec4(isinf(a))));
    power = tsr_keep_nan(a, tsr_keep_nan(b, mix(power, a * a, equal(b, vec4(2.0)))));
    uvec4 one = uvec4(equal(b, vec4(0.0))) | uvec4(equal(a, vec4(1.0))) | (uvec4(equal(size, vec4(1.0))) & uvec4(isinf(b)));
    return mix(power, vec4(1.0), bvec4(one));
}
vec4 tsr_max(vec4 a, vec4 b) { return mix(b, a, tsr_larger(a, b)); }
vec4 tsr_min(vec4 a, vec4 b) { return -tsr_max(-a, -b); }
vec4 tsr_equal(vec4 a, vec4 b) { return vec4(equal(a, b)); }
vec4 tsr_greater(vec4 a, vec4 b) { return vec4(greaterThan(a, b)); }
vec4 tsr_greater_or_equal(vec4 a, vec4 b) { return vec4(greaterThanEqual(a, b)); }
vec4 tsr_less(vec4 a, vec4 b) { return vec4(lessThan(a, b)); }
vec4 tsr_less_or_equal(vec4 a, vec4 b) { return vec4(lessThanEqual(a, b)); }
vec4 tsr_and(vec4 a, vec4 b) { return a * b; }
vec4 tsr_or(vec4 a, vec4 b) { return max(a, b); }
vec4 tsr_xor(vec4 a, vec4 b) { return abs(a - b); }
// Of integers of 8 bits.
vec4 tsr_bitwise_and(vec4 a, vec4 b) { return vec4(ivec4(a) & ivec4(b)); }
vec4 tsr_bitwise_or(vec4 a, vec4 b) { return vec4(ivec4(a) | ivec4(b)); }
vec4 tsr_bitwise_xor(vec4 a, vec4 b) { return vec4(ivec4(a) ^ ivec4(b)); }
vec4 tsr_bit_shift(vec4 a, vec4 b) { return vec4(ivec4(a) << ivec4(min(b, 8.0))); }
vec4 tsr_shift_right(vec4 a, vec4 b) { return vec4(ivec4(a) >> ivec4(min(b, 8.0))); }
