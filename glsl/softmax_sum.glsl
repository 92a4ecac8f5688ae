// A step to softmax's sums: each fragment reduces a region of the source. For every channel it computes an origin, which is
// the maximum or slightly less, and the sum of exp(x - origin), in a single pass: if an element, or the origin of another
// sum, exceeds the origin by more than 1, the sum is rescaled to that as its new origin (M. Milakov and N. Gimelshein,
// "Online normalizer calculation for softmax", 2018).
//   PAIRS     0: the source is the input; 1: the result of an earlier step, with a pair of columns for each region
//   PADDED    1: over channels whose last tile has padding, which is not summed
//   FOLD      1: the last step over channels, whose result is one texel: x: the origin of all channels, y: their sum;
//             0: the result is two columns, the origins and the sums
//   PIXELS    0: a region is one pixel, so that only tiles are looped over; COLUMNS 0: it has one column
//   region    images, tiles, rows, columns of the source
// Sums are stored as parts of 256, which changes no digit: 16 bits hold sums over millions of elements so.
struct Sum {
    vec4 origin, sum;
};
#define NOTHING Sum(vec4(-3.402823466e38), vec4(0.0))

Sum combine(Sum a, Sum b) {
    vec4 above = b.origin - a.origin;
    bvec4 moves = greaterThan(above, vec4(1.0));
    vec4 e = tsr_exp(mix(above, -above, moves), vec2(0.0));
    return Sum(mix(a.origin, b.origin, moves), mix(a.sum + b.sum * e, a.sum * e + b.sum, moves));
}

ivec2 place; // of a region's only column
Sum row_total;

Sum element(int tile, int line, int x) {
#if PAIRS
    return Sum(X_fetch(tile, line, 2 * x), X_fetch(tile, line, 2 * x + 1) * 256.0);
#else
    return Sum(X_cell(tile, line, place.x, place.y), vec4(1.0));
#endif
}

void add(vec4 v) { row_total = combine(row_total, Sum(v, vec4(1.0))); }

Sum add_line(int tile, int line, int column_begin, int column_end) {
#if COLUMNS
    row_total = NOTHING;
#if PAIRS
    for (int x = column_begin; x < column_end; x++)
        row_total = combine(row_total, element(tile, line, x));
#else
#include columns
#endif
    return row_total;
#else
    return element(tile, line, column_begin);
#endif
}

Sum add_up(int n, int t, int y, int x) {
    ivec4 start = ivec4(n, t, y, x) * u.region;
    ivec4 end = min(start + u.region, ivec4(u.X_N, u.X_tiles, u.X_H, u.X_W / ${1 + PAIRS}));
    Sum total = NOTHING;
    place = X_place(x);
    for (int tile = start.y; tile < end.y; tile++) {
#if PADDED
        bvec4 holds = lessThan(ivec4(4 * tile) + ivec4(0, 1, 2, 3), ivec4(u.X_C));
#endif
#if PIXELS
        for (int line = start.z; line < end.z; line++)
            for (int image = start.x; image < end.x; image++) {
                Sum sum = add_line(image * u.X_tiles + tile, line, start.w, end.w);
#else
            {
                Sum sum = element(n * u.X_tiles + tile, y, x);
#endif
#if PADDED
                sum = Sum(mix(NOTHING.origin, sum.origin, holds), mix(NOTHING.sum, sum.sum, holds));
#endif
                total = combine(total, sum);
            }
    }
    // Where the maximum is infinite, the result is NaN.
    vec4 difference = total.origin - total.origin;
    total.sum = mix(total.sum, difference, greaterThan(total.origin, vec4(3.402823466e38)));
    return total;
}

void kernel_row(int n, int t, int y, int x) {
    Sum s;
#if FOLD
#for j PLANES
    s = add_up(n, t, y, min(x + $j, u.O_W - 1));
    {
        float most = max(max(s.origin.x, s.origin.y), max(s.origin.z, s.origin.w));
        vec4 sum = s.sum * tsr_exp(s.origin - most, vec2(0.0));
        v$j = vec4(most, (sum.x + sum.y + (sum.z + sum.w)) / 256.0, 0.0, 0.0);
    }
#endfor
#else
#for j PLANES
#if j % 2 == 0
    s = add_up(n, t, y, x / 2 + ${j / 2});
#endif
    v$j = (x + $j) % 2 == 0 ? s.origin : s.sum / 256.0;
#endfor
#endif
}
