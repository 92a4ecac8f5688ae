// GridSample: pixels of X where `grid` says, which holds x and y of each pixel of the output, -1 to 1 across the image.
// A coordinate that is NaN makes NaN.
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

vec4 pixel(int k, int y, int x) {
#if PADDING == 0
    return X_pixel(k, y, x);
#else
    return X_fetch(k, padded(y, u.X_H), padded(x, u.X_W));
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

vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
    vec2 at = vec2(grid_at(n, y, x, 0), grid_at(n, y, x, 1));
    vec2 position = vec2(locate(at.x, u.X_W), locate(at.y, u.X_H));
#if TAPS == 1
    ivec2 nearest = ivec2(roundEven(position));
    vec4 sum = pixel(k, nearest.y, nearest.x);
#else
    vec2 low = floor(position);
    ivec2 first = ivec2(low) - ${TAPS / 2 - 1};
    vec4 columns = weights(position.x - low.x), rows = weights(position.y - low.y), sum = vec4(0.0);
    for (int j = 0; j < TAPS; j++)
        for (int i = 0; i < TAPS; i++)
            sum += rows[j] * columns[i] * pixel(k, first.y + j, first.x + i);
#endif
    return tsr_keep_nan(at.xxxx, tsr_keep_nan(at.yyyy, sum));
}
