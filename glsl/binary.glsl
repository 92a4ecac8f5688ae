// Binary operators, one function each.
vec4 tsr_add(vec4 a, vec4 b) { return a + b; }
vec4 tsr_sub(vec4 a, vec4 b) { return a - b; }
vec4 tsr_mul(vec4 a, vec4 b) { return a * b; }
vec4 tsr_div(vec4 a, vec4 b) { return a / b; }
vec4 tsr_prelu(vec4 a, vec4 slope) { return mix(a, slope * a, lessThan(a, vec4(0.0))); }
// Of integers of 8 bits, rounded toward zero. The half keeps the quotient away from integers, however inexact it is.
vec4 tsr_div_bytes(vec4 a, vec4 b) { return floor((abs(a) + 0.5) / abs(b)) * sign(a) * sign(b); }
