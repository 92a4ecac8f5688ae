// RoiAlign: each image of the output is a region of an image of X, which `images` names; rois holds its left, top, right and
// bottom edges. A pixel of the output is a bin of the region, at some points of which pixels of X are mixed linearly.
//   SAMPLES         points along an axis of a bin; 0: one a pixel, at most 256
//   LARGEST         1: the largest weighted pixel of all points; 0: the mean of the points
//   HALF_PIXEL      1: pixels' middles are at half numbers; 0: at whole ones, and a region is at least one pixel large

// Along an axis: the two pixels around a point and their weights, which are 0 far outside.
vec4 around(float at, int size) {
    bool inside = at >= -1.0 && at <= float(size);
    at = clamp(at, 0.0, float(size - 1));
    float low = floor(at);
    return inside ? vec4(low, min(low + 1.0, float(size - 1)), 1.0 - (at - low), at - low) : vec4(0.0);
}

// Points along an axis of a bin: as many as a region of some size has pixels in each of its bins.
int count_points(float size, float bins) {
#if SAMPLES > 0
    return SAMPLES;
#else
    float count = clamp(ceil(size / bins), 0.0, 256.0);
    return int((count - 1.0) * bins >= size ? count - 1.0 : count); // where the quotient was rounded up
#endif
}

vec4 kernel(int n, int t, int y, int x) {
    int image = clamp(int(images_at(n, 0, 0, 0)), 0, u.X_N - 1), k = image * u.X_tiles + t;
    vec2 first = vec2(rois_at(n, 0, 0, 0), rois_at(n, 1, 0, 0)) * u.scale - 0.5 * float(HALF_PIXEL);
    vec2 size = vec2(rois_at(n, 2, 0, 0), rois_at(n, 3, 0, 0)) * u.scale - 0.5 * float(HALF_PIXEL) - first;
#if HALF_PIXEL == 0
    size = max(size, 1.0);
#endif
    vec2 bins = vec2(float(u.columns), float(u.rows)), bin = size / bins;
    int columns = count_points(size.x, bins.x), rows = count_points(size.y, bins.y);
    vec4 sum = vec4(0.0);
    for (int j = 0; j < rows; j++) {
        vec4 v = around(first.y + (float(y) + (float(j) + 0.5) / float(rows)) * bin.y, u.X_H);
        for (int i = 0; i < columns; i++) {
            vec4 h = around(first.x + (float(x) + (float(i) + 0.5) / float(columns)) * bin.x, u.X_W);
            vec4 a = v.z * h.z * X_fetch(k, int(v.x), int(h.x)), b = v.z * h.w * X_fetch(k, int(v.x), int(h.y));
            vec4 c = v.w * h.z * X_fetch(k, int(v.y), int(h.x)), d = v.w * h.w * X_fetch(k, int(v.y), int(h.y));
#if LARGEST
            vec4 most = max(max(a, b), max(c, d));
            sum = i + j == 0 ? most : max(sum, most);
#else
            sum += a + b + c + d;
#endif
        }
    }
#if LARGEST
    return sum;
#else
    return sum / float(max(rows * columns, 1));
#endif
}
