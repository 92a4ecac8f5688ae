// GridSample: pixels of X where `grid` says, which holds x and y of each pixel of the output, -1 to 1 across the image.
// A coordinate that is NaN makes NaN.
//   TAPS            pixels of an axis that one is made of, 1: nearest; 2: linear; 4: cubic
//   PADDING         outside the image 0: zeros; 1: border; 2: reflection
//   ALIGN_CORNERS   1: -1 and 1 are the middles of the outermost pixels; 0: their outer edges

// Clamped to positions that are ints, and so are the pixels around; NaN is as far left.
fn bounded(x: f32) -> f32 { return select(-1073741824.0, min(x, 1073741824.0), x > -1073741824.0); }

// The position of a coordinate in an axis of `size` pixels.
fn locate(at: f32, size: i32) -> f32 {
#if ALIGN_CORNERS
    return bounded((bounded(at) + 1.0) * 0.5 * f32(size - 1));
#else
    return bounded(((bounded(at) + 1.0) * f32(size) - 1.0) * 0.5);
#endif
}

// The pixel for position i, according to PADDING.
fn padded(i: i32, size: i32) -> i32 {
#if PADDING == 2
    let period = max(2 * (size - ALIGN_CORNERS), 1);
    let r = select(i, ALIGN_CORNERS - 1 - i, i < 0) % period;
    return min(r, period - 1 + ALIGN_CORNERS - r);
#else
    return clamp(i, 0, size - 1);
#endif
}

fn pixel(k: i32, y: i32, x: i32) -> vec4f {
#if PADDING == 0
    return X_pixel(k, y, x);
#else
    return X_fetch(k, padded(y, u.X_H), padded(x, u.X_W));
#endif
}

// Of the pixels around a position between the middle two, t after the first of these. Cubic: Keys' kernel, -0.75.
fn weights(t: f32) -> vec4f {
    let s = 1.0 - t;
#if TAPS == 4
    return vec4f(-0.75 * t * s * s, (1.25 * t - 2.25) * t * t + 1.0, (1.25 * s - 2.25) * s * s + 1.0, -0.75 * s * t * t);
#else
    return vec4f(s, t, 0.0, 0.0);
#endif
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    let at = vec2f(grid_at(n, y, x, 0), grid_at(n, y, x, 1));
    let position = vec2f(locate(at.x, u.X_W), locate(at.y, u.X_H));
#if TAPS == 1
    let nearest = vec2i(round(position)); // halves to even
    let sum = pixel(k, nearest.y, nearest.x);
#else
    let low = floor(position);
    let first = vec2i(low) - ${TAPS / 2 - 1};
    let columns = weights(position.x - low.x);
    let rows = weights(position.y - low.y);
    var sum = vec4f();
#for j TAPS
#for i TAPS
    sum += rows[$j] * columns[$i] * pixel(k, first.y + $j, first.x + $i);
#endfor
#endfor
#endif
    return tsr_keep_nan(at.xxxx, tsr_keep_nan(at.yyyy, sum));
}
