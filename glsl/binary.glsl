// Binary operators, one function each.
vec4 tsr_add(vec4 a, vec4 b) { return a + b; }
vec4 tsr_sub(vec4 a, vec4 b) { return a - b; }
vec4 tsr_mul(vec4 a, vec4 b) { return a * b; }
vec4 tsr_div(vec4 a, vec4 b) { return a / b; }
vec4 tsr_prelu(vec4 a, vec4 slope) { return mix(a, slope * a, lessThan(a, vec4(0.0))); }
