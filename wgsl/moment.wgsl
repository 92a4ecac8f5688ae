// What wgsl/moments.wgsl and wgsl/moments_group.wgsl share: mean and variance of each channel of an image, in one reading
// of it. A step makes two columns of each region of its source: the mean of the region's pixels and the sum of the squares
// of their differences from it. Blocks are combined as T. F. Chan, G. H. Golub and R. J. LeVeque do ("Updating formulae
// and a pairwise algorithm for computing sample variances", 1979), a single pixel being a region too; the sums of squares
// never cancel.
//   PAIRS    0: the source is the image; 1: it is what an earlier step has left, a pair of columns being one
//   region   rows, columns of the source that make one pair
//   pixel    rows, columns of the image that a row, a column of the source is
//   image, source    their rows, columns
//   factor   of the sum of squares
struct Moments {
    count: f32,
    mean: vec4f, // its difference from an origin, a pixel of the region: it needs few bits
    squares: vec4f,
}

// One of them may be of no pixels.
fn combine(a: Moments, b: Moments) -> Moments {
    let count = a.count + b.count;
    let share = b.count / max(count, 1.0);
    let d = b.mean - a.mean;
    return Moments(count, a.mean + d * share, a.squares + b.squares + d * (d * (a.count * share)));
}

// The region of the source at this place: where it begins, and how large it is.
fn region_start(y: i32, x: i32) -> vec2i { return vec2i(y * u.region.rows, x * u.region.columns); }
fn region_size(start: vec2i) -> vec2i {
    return min(vec2i(u.region.rows, u.region.columns), vec2i(u.source.rows, u.source.columns) - start);
}

fn read_origin(k: i32, y: i32, x: i32) -> vec4f { return X_fetch(k, y, x * (1 + PAIRS)); }

fn read_pixel(k: i32, y: i32, x: i32, origin: vec4f) -> Moments {
#if PAIRS
    let rows = min(u.pixel.rows, u.image.rows - y * u.pixel.rows); // fewer at the edges
    let columns = min(u.pixel.columns, u.image.columns - x * u.pixel.columns);
    return Moments(f32(rows * columns), X_fetch(k, y, 2 * x) - origin, X_fetch(k, y, 2 * x + 1));
#else
    return Moments(1.0, X_fetch(k, y, x) - origin, vec4f());
#endif
}

// p: where the region's mean goes; its sum of squares goes beside it.
fn keep(p: vec4i, origin: vec4f, m: Moments) {
    store(p.x, p.y, p.z, p.w, origin + m.mean);
    store(p.x, p.y, p.z, p.w + 1, m.squares * u.factor);
}
