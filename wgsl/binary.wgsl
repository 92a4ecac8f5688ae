// Binary operators, one function each.
fn tsr_add(a: vec4f, b: vec4f) -> vec4f { return a + b; }
fn tsr_sub(a: vec4f, b: vec4f) -> vec4f { return a - b; }
fn tsr_mul(a: vec4f, b: vec4f) -> vec4f { return a * b; }
fn tsr_div(a: vec4f, b: vec4f) -> vec4f { return a / b; }
fn tsr_prelu(a: vec4f, slope: vec4f) -> vec4f { return select(a, slope * a, a < vec4f()); }
