// Included by wgsl/moments.wgsl and wgsl/moments_group.wgsl: mean and variance of each channel of an image, which is read
// once. A step reduces each region of its source to two columns: the mean of the region's pixels and the sum of the squares
// of their differences from it. Regions are combined as in T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and
// a pairwise algorithm for computing sample variances", 1979; a single pixel is a region, too. The sums of squares never
// cancel.
//   PAIRS    0: the source is the image; 1: the result of an earlier step, with a pair of columns for each region
//   region   rows, columns of the source that are reduced to one pair
//   pixel    rows, columns of the image for one row, one column of the source
//   image, source    their rows, columns
//   factor   of the sum of squares
struct Moments {
    count: f32,
    mean: vec4f, // its difference from an origin, a pixel of the region: it needs few bits
    squares: vec4f,
}

// One of them may be empty.
fn combine(a: Moments, b: Moments) -> Moments {
    let count = a.count + b.count;
    let share = b.count / max(count, 1.0);
    let d = b.mean - a.mean;
    return Moments(count, a.mean + d * share, a.squares + b.squares + d * (d * (a.count * share)));
}

// Begin and size of the region for this pixel of the output.
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

// p: the region's mean; its sum of squares is the next column.
fn keep(p: vec4i, origin: vec4f, m: Moments) {
    store(p.x, p.y, p.z, p.w, origin + m.mean);
    store(p.x, p.y, p.z, p.w + 1, m.squares * u.factor);
}
