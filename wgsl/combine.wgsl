// As glsl/combine.glsl.
#if COMBINE == 0
fn nothing() -> vec4f { return vec4f(); }
fn combine(a: vec4f, b: vec4f) -> vec4f { return a + b; }
#elif COMBINE == 1
fn nothing() -> vec4f { return vec4f(1.0); }
fn combine(a: vec4f, b: vec4f) -> vec4f { return a * b; }
#elif COMBINE == 2
fn nothing() -> vec4f {
    var bits = vec4u(0xff800000u); // infinity, which no constant may be
    return bitcast<vec4f>(bits);
}
fn combine(a: vec4f, b: vec4f) -> vec4f { return select(a, b, tsr_larger(b, a)); }
#else
fn nothing() -> vec4f {
    var bits = vec4u(0x7f800000u);
    return bitcast<vec4f>(bits);
}
fn combine(a: vec4f, b: vec4f) -> vec4f { return select(a, b, tsr_larger(-b, -a)); }
#endif
#if MAP == 0
fn mapped(v: vec4f) -> vec4f { return v; }
#elif MAP == 1
fn mapped(v: vec4f) -> vec4f { return abs(v); }
#else
fn mapped(v: vec4f) -> vec4f { return v * v; }
#endif
