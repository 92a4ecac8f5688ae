// GridSample: pixels of X where `grid` says, which holds x, y and z of each pixel of the output, -1 to 1 across the image.
// A coordinate that is NaN makes NaN.
//   AXES            1: of rows: [n, pixel] is x; 2: of images: [n, row, column] is x, y; 3: of volumes, whose depths are stored
//                   one below the other: [n, depth, row * columns + column] is x, y, z
//   TAPS            pixels of an axis that one is made of, 1: nearest; 2: linear; 4: cubic
//   PADDING         outside the image 0: zeros; 1: border; 2: reflection
//   ALIGN_CORNERS   1: -1 and 1 are the middles of the outermost pixels; 0: their outer edges

// Clamped to positions that are ints, and so are the pixels around; NaN is as far left.
float bounded(float x) { return x > -1073741824.0 ? min(x, 1073741824.0) : -1073741824.0; }

// The position of a coordinate in an axis of `size` pixels.
float locate(float at, int size) {
#if ALIGN_CORNERS
    return bounded((bounded(at) + 1.0) * 0.5 * float(size - 1));
#else
    return bounded(((bounded(at) + 1.0) * float(size) - 1.0) * 0.5);
#endif
}

// The pixel for position i, according to PADDING.
int padded(int i, int size) {
#if PADDING == 2
    int period = max(2 * (size - ALIGN_CORNERS), 1);
    i = (i < 0 ? ALIGN_CORNERS - 1 - i : i) % period;
    return min(i, period - 1 + ALIGN_CORNERS - i);
#else
    return clamp(i, 0, size - 1);
#endif
}

vec4 pixel(int k, int z, int y, int x) {
#if PADDING == 0
    bool inside = x >= 0 && x < u.X_W && y >= 0 && y < u.height && z >= 0 && z < u.depth;
    vec4 v = X_fetch(k, inside ? z * u.height + y : 0, inside ? x : 0);
    return inside ? v : vec4(0.0);
#elif AXES == 3
    return X_fetch(k, padded(z, u.depth) * u.height + padded(y, u.height), padded(x, u.X_W));
#else
    return X_fetch(k, padded(y, u.height), padded(x, u.X_W));
#endif
}

// Of the pixels around a position between the middle two, t after the first of these. Cubic: Keys' kernel, -0.75.
vec4 weights(float t) {
    float s = 1.0 - t;
#if TAPS == 4
    return vec4(-0.75 * t * s * s, (1.25 * t - 2.25) * t * t + 1.0, (1.25 * s - 2.25) * s * s + 1.0, -0.75 * s * t * t);
#else
    return vec4(s, t, 0.0, 0.0);
#endif
}

vec4 sampled_row(int k, int z, int y, int first, vec4 columns) {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < TAPS; i++)
        sum += columns[i] * pixel(k, z, y, first + i);
    return sum;
}

vec4 sampled_image(int k, int z, ivec2 first, vec4 rows, vec4 columns) {
#if AXES == 1
    return sampled_row(k, z, 0, first.x, columns);
#else
    vec4 sum = vec4(0.0);
    for (int j = 0; j < TAPS; j++)
        sum += rows[j] * sampled_row(k, z, first.y + j, first.x, columns);
    return sum;
#endif
}

vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
#if AXES == 1
    vec3 at = vec3(grid_at(n, x, 0, 0), 0.0, 0.0);
#elif AXES == 2
    vec3 at = vec3(grid_at(n, y, x, 0), grid_at(n, y, x, 1), 0.0);
#else
    int depth = tsr_quotient(y, u.out_height), point = (y - depth * u.out_height) * u.O_W + x;
    vec3 at = vec3(grid_at(n, depth, point, 0), grid_at(n, depth, point, 1), grid_at(n, depth, point, 2));
#endif
    vec3 position = vec3(locate(at.x, u.X_W), locate(at.y, u.height), locate(at.z, u.depth));
#if TAPS == 1
    ivec3 nearest = ivec3(roundEven(position));
    vec4 sum = pixel(k, nearest.z, nearest.y, nearest.x);
#else
    vec3 low = floor(position);
    ivec3 first = ivec3(low) - ${TAPS / 2 - 1};
    vec4 columns = weights(position.x - low.x), rows = weights(position.y - low.y);
#if AXES == 3
    vec4 depths = weights(position.z - low.z), sum = vec4(0.0);
    for (int l = 0; l < TAPS; l++)
        sum += depths[l] * sampled_image(k, first.z + l, first.xy, rows, columns);
#else
    vec4 sum = sampled_image(k, 0, first.xy, rows, columns);
#endif
#endif
    return tsr_keep_nan(at.xxxx, tsr_keep_nan(at.yyyy, tsr_keep_nan(at.zzzz, sum)));
}
