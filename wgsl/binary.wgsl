// Binary operators, one function each.
fn tsr_add(a: vec4f, b: vec4f) -> vec4f { return a + b; }
fn tsr_sub(a: vec4f, b: vec4f) -> vec4f { return a - b; }
fn tsr_mul(a: vec4f, b: vec4f) -> vec4f { return a * b; }
fn tsr_div(a: vec4f, b: vec4f) -> vec4f { return a / b; }
fn tsr_prelu(a: vec4f, slope: vec4f) -> vec4f { return select(a, slope * a, a < vec4f()); }
// Of integers of 8 bits, rounded toward zero. The half keeps the quotient away from integers, however inexact it is.
fn tsr_div_bytes(a: vec4f, b: vec4f) -> vec4f { return floor((abs(a) + 0.5) / abs(b)) * sign(a) * sign(b); }
