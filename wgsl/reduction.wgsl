// What wgsl/reduce.wgsl and wgsl/reduce_group.wgsl share.
//   OPERATION   0: sum; 1: maximum
//   MAP         0: a; 1: (a - b)^2; 2: exp(a - b), b a tensor to broadcast
//   CHANNELS    1: all channels into one
//   u.block     images, unused, rows, columns of the input that become one pixel of the output
//   u.factor    x: of the result
const NEUTRAL = select(0.0, -3.402823466e38, OPERATION == 1);

fn mapped(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let v = A_fetch(n * u.A_grid.x + t, y, x);
#if MAP == 0
    return v;
#else
    let d = v - B_broadcast(n, t, y, x);
    return select(d * d, exp(d), MAP == 2);
#endif
}

fn combine(a: vec4f, b: vec4f) -> vec4f {
#if OPERATION == 1
    return max(a, b);
#else
    return a + b;
#endif
}

// Padding channels do not count.
fn add_tile(total: vec4f, v: vec4f, t: i32) -> vec4f {
    return select(total, combine(total, v), vec4i(0, 1, 2, 3) < vec4i(u.A_size.y - 4 * t));
}

// The result of a pixel from what its channels sum up to.
fn finished(total: vec4f) -> vec4f {
#if CHANNELS
    let pairs = combine(total.xyxy, total.zwzw);
    return combine(pairs.xxxx, pairs.yyyy) * u.factor.x;
#else
    return total * u.factor.x;
#endif
}
