// What wgsl/moments.wgsl and wgsl/moments_group.wgsl share: mean and variance of each channel of an image, in one reading
// of it. A step makes two columns of each block of its source: the mean of the block's pixels and the sum of the squares
// of their differences from it. Blocks are combined as T. F. Chan, G. H. Golub and R. J. LeVeque do ("Updating formulae
// and a pairwise algorithm for computing sample variances", 1979), a single pixel being a block too; the sums of squares
// never cancel.
//   PAIRS       0: the source is the image; 1: it is what an earlier step has left
//   u.block     rows, columns of the source, a pair being one; rows, columns of the image that one of these is
//   u.image     rows, columns of the image; rows, columns of the source
//   u.factor    x: of the sum of squares
struct Moments {
    count: f32,
    mean: vec4f, // its difference from an origin, a pixel of the block: it needs few bits
    squares: vec4f,
}

// One of them may be of no pixels.
fn combine(a: Moments, b: Moments) -> Moments {
    let count = a.count + b.count;
    let share = b.count / max(count, 1.0);
    let d = b.mean - a.mean;
    return Moments(count, a.mean + d * share, a.squares + b.squares + d * (d * (a.count * share)));
}

fn read_origin(k: i32, y: i32, x: i32) -> vec4f { return A_fetch(k, y, x * (1 + PAIRS)); }

fn read_pixel(k: i32, y: i32, x: i32, origin: vec4f) -> Moments {
#if PAIRS
    let size = min(u.block.zw, u.image.xy - vec2i(y, x) * u.block.zw); // fewer at the edges
    return Moments(f32(size.x * size.y), A_fetch(k, y, 2 * x) - origin, A_fetch(k, y, 2 * x + 1));
#else
    return Moments(1.0, A_fetch(k, y, x) - origin, vec4f());
#endif
}

// p: where the block's mean goes; its sum of squares goes beside it.
fn keep(p: vec4i, origin: vec4f, m: Moments) {
    store(p.x, p.y, p.z, p.w, origin + m.mean);
    store(p.x, p.y, p.z, p.w + 1, m.squares * u.factor.x);
}
