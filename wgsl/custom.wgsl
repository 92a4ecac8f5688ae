// A custom operator: defines the names that src/tessera.h documents for its body. src/gpu/program_text.c appends the body
// and a closing brace.
#include element

// An element of an input, 0 outside it and for inputs that the node does not have.
#for i INPUTS
fn IN$i(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let p = vec4i(n, c, y, x);
    if (any(p < vec4i(0)) || any(p >= u.$I_size)) {
        return 0.0;
    }
    return $I_at(n, c, y, x);
}
#endfor
#for i 4
#if i >= INPUTS
fn IN$i(n: i32, c: i32, y: i32, x: i32) -> f32 { return 0.0; }
#endif
#endfor

fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
#for i 4
#if i < INPUTS
    let IN${i}_N = u.$I_N;
    let IN${i}_C = u.$I_C;
    let IN${i}_H = u.$I_H;
    let IN${i}_W = u.$I_W;
#else
    let IN${i}_N = 0;
    let IN${i}_C = 0;
    let IN${i}_H = 0;
    let IN${i}_W = 0;
#endif
#endfor
    let OUT_N = u.O_N;
    let OUT_C = u.O_C;
    let OUT_H = u.O_H;
    let OUT_W = u.O_W;
