// Included by wgsl/softmax_sum.wgsl and wgsl/softmax_sum_group.wgsl. A step to softmax's sums computes, for every channel of
// a region of its source, an origin, which is the maximum or slightly less, and the sum of exp(a - origin), in a single
// pass: if an element, or the origin of another sum, exceeds the origin by more than 1, the sum is rescaled to that as its
// new origin (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018).
//   PAIRS      0: the source is the input; 1: the result of an earlier step, with a pair of columns for each region
//   PADDED     1: over channels whose last tile has padding, which is not summed
//   FOLD       1: the last step over channels, whose result is one texel: x: the origin of all channels, y: their sum;
//              0: the result is two columns, the origins and the sums
//   region     images, tiles, rows, columns of the source, a pair counting as one column
struct Sum {
    origin: vec4f,
    sum: vec4f,
}
const LARGEST = 3.402823466e38;
const NOTHING = Sum(vec4f(-LARGEST), vec4f());
const RESULTS = 2 - FOLD; // columns that a region is reduced to

fn combine(a: Sum, b: Sum) -> Sum {
    let above = b.origin - a.origin;
    let moves = above > vec4f(1.0);
    let e = tsr_exp(select(above, -above, moves), vec2f());
    return Sum(select(a.origin, b.origin, moves), select(a.sum + b.sum * e, a.sum * e + b.sum, moves));
}

// Begin and size of the region for a pixel of the output.
fn region_start(p: vec4i) -> vec4i { return vec4i(p.xyz, p.w / RESULTS) * u.region; }
fn region_size(start: vec4i) -> vec4i {
    let source = vec4i(u.X_N, u.X_tiles, u.X_H, u.X_W / (1 + PAIRS));
    return min(start + u.region, source) - start;
}

fn element(image: i32, tile: i32, y: i32, x: i32) -> Sum {
    let k = image * u.X_tiles + tile;
#if PAIRS
    return Sum(X_fetch(k, y, 2 * x), X_fetch(k, y, 2 * x + 1));
#elif PADDED
    let holds = vec4i(0, 1, 2, 3) < vec4i(u.X_C - 4 * tile);
    return Sum(select(vec4f(-LARGEST), X_fetch(k, y, x), holds), vec4f(holds));
#else
    return Sum(X_fetch(k, y, x), vec4f(1.0));
#endif
}

fn keep(p: vec4i, s: Sum) {
    // Where the maximum is infinite, the result is NaN.
    let sum = select(s.sum, s.origin - s.origin, s.origin > vec4f(LARGEST));
#if FOLD
    let most = max(max(s.origin.x, s.origin.y), max(s.origin.z, s.origin.w));
    let sums = sum * tsr_exp(s.origin - most, vec2f());
    store(p.x, p.y, p.z, p.w, vec4f(most, sums.x + sums.y + (sums.z + sums.w), 0.0, 0.0));
#else
    store(p.x, p.y, p.z, p.w, s.origin);
    store(p.x, p.y, p.z, p.w + 1, sum);
#endif
}
