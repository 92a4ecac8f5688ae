// Resampling an axis of `from` samples to one of `to`: sample `at` is the sum of samples taps.x to taps.y times their
// weights. FILTER 0: the mean of the area that it covers where the axis shrinks, else linear; 1: linear; 2: nearest. Sample
// centres are at half integers. In integers, so that weights are exact.
ivec2 taps(int at, int from, int to) {
    int doubled = (2 * at + 1) * from;
#if FILTER == 2
    return ivec2(doubled / (2 * to));
#else
#if FILTER == 0
    if (from > to)
        return ivec2(at * from / to, ((at + 1) * from - 1) / to);
#endif
    int first = doubled < to ? -1 : (doubled - to) / (2 * to);
    return ivec2(first, from == to ? first : first + 1);
#endif
}
float weight(int i, int at, int from, int to) {
#if FILTER == 2
    return 1.0;
#else
#if FILTER == 0
    if (from > to)
        return float(min((i + 1) * to, (at + 1) * from) - max(i * to, at * from)) / float(from);
#endif
    int position = (2 * at + 1) * from - to, first = position < 0 ? -1 : position / (2 * to);
    float fraction = float(position - first * 2 * to) / float(2 * to);
    return i == first ? 1.0 - fraction : fraction;
#endif
}
