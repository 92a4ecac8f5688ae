// Resampling an axis of `from` samples to one of `to`: sample `at` is the sum of samples first to last times their weights.
// FILTER 0: the mean of the area that it covers where the axis shrinks, else linear; 1: linear; 2: nearest. Sample centres
// are at half integers. In integers, so that weights are exact: first, last and, for linear, the numerator of the second
// one's weight.
ivec3 taps(int at, int from, int to) {
    int doubled = (2 * at + 1) * from;
#if FILTER == 2
    return ivec3(ivec2(tsr_quotient(doubled, 2 * to)), 0);
#else
#if FILTER == 0
    if (from > to)
        return ivec3(tsr_quotient(at * from, to), tsr_quotient((at + 1) * from - 1, to), 0);
#endif
    int first = doubled < to ? -1 : tsr_quotient(doubled - to, 2 * to);
    return ivec3(first, from == to ? first : first + 1, doubled - to - first * 2 * to);
#endif
}
float weight(int i, ivec3 taps, int at, int from, int to) {
#if FILTER == 2
    return 1.0;
#else
#if FILTER == 0
    if (from > to)
        return float(min((i + 1) * to, (at + 1) * from) - max(i * to, at * from)) / float(from);
#endif
    float second = float(taps.z) / float(2 * to);
    return i == taps.x ? 1.0 - second : second;
#endif
}
