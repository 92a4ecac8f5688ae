// What wgsl/reduce.wgsl and wgsl/reduce_group.wgsl share.
//   OPERATION   0: sum; 1: maximum
//   MAP         0: a; 1: exp(a - b), b a tensor of size 1 along the axes that are reduced
//   TILES       1: a block has many tiles
//   FOLD       1: at last, the channels of a texel into one
//   u.block     images, tiles, rows, columns of the input that become one pixel of the output
//   u.factor    x: of the result
const NEUTRAL = select(0.0, -3.402823466e38, OPERATION == 1);

// b, the same for a whole block: that of a pixel of the output.
fn subtracted(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if MAP
    return B_broadcast(n, t, y, x);
#else
    return vec4f();
#endif
}

fn mapped(v: vec4f, b: vec4f) -> vec4f {
#if MAP
    return tsr_exp(v - b, vec2f());
#else
    return v;
#endif
}

fn combine(a: vec4f, b: vec4f) -> vec4f {
#if OPERATION == 1
    return select(a, b, tsr_larger(b, a));
#else
    return a + b;
#endif
}

// Padding channels do not count.
fn add_tile(total: vec4f, v: vec4f, t: i32) -> vec4f {
#if TILES
    return select(total, combine(total, v), vec4i(0, 1, 2, 3) < vec4i(u.A_size.y - 4 * t));
#else
    return combine(total, v);
#endif
}

// The result of a pixel from what its channels sum up to.
fn finished(total: vec4f) -> vec4f {
#if FOLD
    let pairs = combine(total.xyxy, total.zwzw);
    return combine(pairs.xxxx, pairs.yyyy) * u.factor.x;
#else
    return total * u.factor.x;
#endif
}
