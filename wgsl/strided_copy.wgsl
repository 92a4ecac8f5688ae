// Copies elements along axes: Transpose, Slice, Split and Pad. Each axis a of the input is indexed by one of the output:
// input[a] = output[FROM_a] * steps[a] + starts[a].
//   FROM_N, FROM_C, FROM_H, FROM_W    0 N, 1 C, 2 H, 3 W
//   WHOLE 1    copies whole texels (starts.c is in tiles)
//   PAD        0: always inside; 1: `value` outside the input; 2: reflect; 3: edge
fn inside(i: i32, size: i32) -> i32 {
#if PAD == 2
    let j = abs(i); // pads are smaller than the axis
    return min(j, 2 * (size - 1) - j);
#else
    return clamp(i, 0, size - 1);
#endif
}

fn pick(p: vec4i) -> vec4f {
    let q = vec4i(p[FROM_N], p[FROM_C], p[FROM_H], p[FROM_W]);
    let i = q * u.steps + u.starts;
    var size = u.X_size;
#if WHOLE
    size.y = u.X_tiles;
#endif
    let at = vec4i(inside(i.x, size.x), inside(i.y, size.y), inside(i.z, size.z), inside(i.w, size.w));
#if PAD == 1
    if (any(at != i)) {
        return vec4f(u.value);
    }
#endif
#if WHOLE
    return X_fetch(at.x * u.X_tiles + at.y, at.z, at.w);
#else
    return vec4f(X_at(at.x, at.y, at.z, at.w));
#endif
}

#if WHOLE
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f { return pick(vec4i(n, t, y, x)); }
#else
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 { return pick(vec4i(n, c, y, x)).x; }
#endif
