// Resampling an axis of `from_size` samples to one of `size`: sample `at` is the sum of samples taps.x to taps.y times their
// weights. FILTER 0: the mean of the area that it covers where the axis shrinks, else linear; 1: linear; 2: nearest. Sample
// centres are at half integers. In integers, so that weights are exact.
fn taps(at: i32, from_size: i32, size: i32) -> vec2i {
    let doubled = (2 * at + 1) * from_size;
#if FILTER == 2
    return vec2i(doubled / (2 * size));
#else
#if FILTER == 0
    if (from_size > size) {
        return vec2i(at * from_size / size, ((at + 1) * from_size - 1) / size);
    }
#endif
    let first = select((doubled - size) / (2 * size), -1, doubled < size);
    return vec2i(first, select(first + 1, first, from_size == size));
#endif
}
fn weight(i: i32, at: i32, from_size: i32, size: i32) -> f32 {
#if FILTER == 2
    return 1;
#else
#if FILTER == 0
    if (from_size > size) {
        return f32(min((i + 1) * size, (at + 1) * from_size) - max(i * size, at * from_size)) / f32(from_size);
    }
#endif
    let position = (2 * at + 1) * from_size - size;
    let first = select(position / (2 * size), -1, position < 0);
    let fraction = f32(position - first * 2 * size) / f32(2 * size);
    return select(fraction, 1 - fraction, i == first);
#endif
}
