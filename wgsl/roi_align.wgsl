// RoiAlign: each image of the output is a region of an image of X, which `images` names; rois holds its left, top, right and
// bottom edges. A pixel of the output is a bin of the region, at some points of which pixels of X are mixed linearly.
//   SAMPLES         points along an axis of a bin; 0: one a pixel, at most 256
//   LARGEST         1: the largest weighted pixel of all points; 0: the mean of the points
//   HALF_PIXEL      1: pixels' middles are at half numbers; 0: at whole ones, and a region is at least one pixel large

// Along an axis: the two pixels around a point and their weights, which are 0 far outside.
fn around(point: f32, size: i32) -> vec4f {
    let inside = point >= -1.0 && point <= f32(size);
    let at = clamp(point, 0.0, f32(size - 1));
    let low = floor(at);
    return select(vec4f(), vec4f(low, min(low + 1.0, f32(size - 1)), 1.0 - (at - low), at - low), inside);
}

// Points along an axis of a bin: as many as a region of some size has pixels in each of its bins.
fn count_points(size: f32, bins: f32) -> i32 {
#if SAMPLES > 0
    return SAMPLES;
#else
    let count = clamp(ceil(size / bins), 0.0, 256.0);
    return i32(select(count, count - 1.0, (count - 1.0) * bins >= size)); // where the quotient was rounded up
#endif
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let image = clamp(i32(images_at(n, 0, 0, 0)), 0, u.X_N - 1);
    let k = image * u.X_tiles + t;
    let first = vec2f(rois_at(n, 0, 0, 0), rois_at(n, 1, 0, 0)) * u.scale - 0.5 * f32(HALF_PIXEL);
    var size = vec2f(rois_at(n, 2, 0, 0), rois_at(n, 3, 0, 0)) * u.scale - 0.5 * f32(HALF_PIXEL) - first;
#if HALF_PIXEL == 0
    size = max(size, vec2f(1.0));
#endif
    let bins = vec2f(f32(u.columns), f32(u.rows));
    let bin = size / bins;
    let columns = count_points(size.x, bins.x);
    let rows = count_points(size.y, bins.y);
    var sum = vec4f();
    for (var j = 0; j < rows; j++) {
        let v = around(first.y + (f32(y) + (f32(j) + 0.5) / f32(rows)) * bin.y, u.X_H);
        for (var i = 0; i < columns; i++) {
            let h = around(first.x + (f32(x) + (f32(i) + 0.5) / f32(columns)) * bin.x, u.X_W);
            let a = v.z * h.z * X_fetch(k, i32(v.x), i32(h.x));
            let b = v.z * h.w * X_fetch(k, i32(v.x), i32(h.y));
            let c = v.w * h.z * X_fetch(k, i32(v.y), i32(h.x));
            let d = v.w * h.w * X_fetch(k, i32(v.y), i32(h.y));
#if LARGEST
            let most = max(max(a, b), max(c, d));
            sum = select(max(sum, most), most, i + j == 0);
#else
            sum += a + b + c + d;
#endif
        }
    }
#if LARGEST
    return sum;
#else
    return sum / f32(max(rows * columns, 1));
#endif
}
