// GridSample: pixels of X where `grid` says, which holds x, y and z of each pixel of the output, -1 to 1 across the image.
// A coordinate that is NaN makes NaN.
//   AXES            1: of rows: [n, pixel] is x; 2: of images: [n, row, column] is x, y; 3: of volumes, whose depths are stored
//                   one below the other: [n, depth, row * columns + column] is x, y, z
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

fn pixel(k: i32, z: i32, y: i32, x: i32) -> vec4f {
#if PADDING == 0
    let inside = x >= 0 && x < u.X_W && y >= 0 && y < u.height && z >= 0 && z < u.depth;
    return select(vec4f(), X_fetch(k, select(0, z * u.height + y, inside), select(0, x, inside)), inside);
#elif AXES == 3
    return X_fetch(k, padded(z, u.depth) * u.height + padded(y, u.height), padded(x, u.X_W));
#else
    return X_fetch(k, padded(y, u.height), padded(x, u.X_W));
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

fn sampled_row(k: i32, z: i32, y: i32, first: i32, columns: vec4f) -> vec4f {
    var sum = vec4f();
#for i TAPS
    sum += columns[$i] * pixel(k, z, y, first + $i);
#endfor
    return sum;
}

fn sampled_image(k: i32, z: i32, first: vec3i, rows: vec4f, columns: vec4f) -> vec4f {
#if AXES == 1
    return sampled_row(k, z, 0, first.x, columns);
#else
    var sum = vec4f();
#for j TAPS
    sum += rows[$j] * sampled_row(k, z, first.y + $j, first.x, columns);
#endfor
    return sum;
#endif
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
#if AXES == 1
    let at = vec3f(grid_at(n, x, 0, 0), 0.0, 0.0);
#elif AXES == 2
    let at = vec3f(grid_at(n, y, x, 0), grid_at(n, y, x, 1), 0.0);
#else
    let depth = y / u.out_height;
    let point = (y - depth * u.out_height) * u.O_W + x;
    let at = vec3f(grid_at(n, depth, point, 0), grid_at(n, depth, point, 1), grid_at(n, depth, point, 2));
#endif
    let position = vec3f(locate(at.x, u.X_W), locate(at.y, u.height), locate(at.z, u.depth));
#if TAPS == 1
    let nearest = vec3i(round(position)); // halves to even
    let sum = pixel(k, nearest.z, nearest.y, nearest.x);
#else
    let low = floor(position);
    let first = vec3i(low) - ${TAPS / 2 - 1};
    let columns = weights(position.x - low.x);
    let rows = weights(position.y - low.y);
#if AXES == 3
    let depths = weights(position.z - low.z);
    var sum = vec4f();
    for (var l = 0; l < TAPS; l++) {
        sum += depths[l] * sampled_image(k, first.z + l, first, rows, columns);
    }
#else
    let sum = sampled_image(k, 0, first, rows, columns);
#endif
#endif
    return tsr_keep_nan(at.xxxx, tsr_keep_nan(at.yyyy, tsr_keep_nan(at.zzzz, sum)));
}
