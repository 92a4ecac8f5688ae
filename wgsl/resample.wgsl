// Resampling an axis of `from_size` samples to one of `size`: sample `at` is the sum of samples first to last times their
// weights. FILTER 0: the mean of the area that it covers where the axis shrinks, else linear; 1: linear; 2: nearest. Sample
// centres are at half integers. In integers, so that weights are exact: first, last and, for linear, the numerator of the
// second one's weight.
fn taps(at: i32, from_size: i32, size: i32) -> vec3i {
    let doubled = (2 * at + 1) * from_size;
#if FILTER == 2
    let nearest = doubled / (2 * size);
    return vec3i(nearest, nearest, 0);
#else
#if FILTER == 0
    if (from_size > size) {
        return vec3i(at * from_size / size, ((at + 1) * from_size - 1) / size, 0);
    }
#endif
    let first = select((doubled - size) / (2 * size), -1, doubled < size);
    return vec3i(first, select(first + 1, first, from_size == size), doubled - size - first * 2 * size);
#endif
}
fn weight(i: i32, taps: vec3i, at: i32, from_size: i32, size: i32) -> f32 {
#if FILTER == 2
    return 1;
#else
#if FILTER == 0
    if (from_size > size) {
        return f32(min((i + 1) * size, (at + 1) * from_size) - max(i * size, at * from_size)) / f32(from_size);
    }
#endif
    let second = f32(taps.z) / f32(2 * size);
    return select(second, 1 - second, i == taps.x);
#endif
}
