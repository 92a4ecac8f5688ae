// A custom operator. What src/tessera.h promises to its body, which src/webgpu/shader.c writes behind this, with a
// brace to close the function; GIVEN is how many inputs the node has.
#include element

// An element of an input, 0 outside it; and an input that the node does not have.
#for i GIVEN
fn IN$i(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let p = vec4i(n, c, y, x);
    if (any(p < vec4i(0)) || any(p >= u.$I_size)) {
        return 0.0;
    }
    return $I_at(n, c, y, x);
}
#endfor
#for i 4
#if $i >= GIVEN
fn IN$i(n: i32, c: i32, y: i32, x: i32) -> f32 { return 0.0; }
#endif
#endfor

fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
#for i 4
#if $i < GIVEN
    let IN$i_size = u.$I_size;
#else
    let IN$i_size = vec4i(0);
#endif
    let IN$i_N = IN$i_size.x;
    let IN$i_C = IN$i_size.y;
    let IN$i_H = IN$i_size.z;
    let IN$i_W = IN$i_size.w;
#endfor
    let OUT_N = u.O_size.x;
    let OUT_C = u.O_size.y;
    let OUT_H = u.O_size.z;
    let OUT_W = u.O_size.w;
