// Concatenates up to four tensors along AXIS (0 N, 1 C, 2 H, 3 W).
//   WHOLE 1            copies whole texels (if AXIS is 1, begins are in tiles)
//   begin_b, c, d      where the second, third and fourth begin along AXIS
#for s INPUTS
fn $S_slice(p: vec4i, begin: i32) -> vec4f {
    var q = p;
    q[AXIS] -= begin;
#if WHOLE
    return $S_fetch(q.x * u.$S_tiles + q.y, q.z, q.w);
#else
    return vec4f($S_at(q.x, q.y, q.z, q.w));
#endif
}
#endfor

fn pick(p: vec4i) -> vec4f {
#if INPUTS > 3
    if (p[AXIS] >= u.begin_d) {
        return D_slice(p, u.begin_d);
    }
#endif
#if INPUTS > 2
    if (p[AXIS] >= u.begin_c) {
        return C_slice(p, u.begin_c);
    }
#endif
#if INPUTS > 1
    if (p[AXIS] >= u.begin_b) {
        return B_slice(p, u.begin_b);
    }
#endif
    return A_slice(p, 0);
}

#if WHOLE
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f { return pick(vec4i(n, t, y, x)); }
#else
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 { return pick(vec4i(n, c, y, x)).x; }
#endif
