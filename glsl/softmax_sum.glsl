// One step to softmax's sums: each fragment takes a block of the source. It finds, of every channel, an origin, which is
// the maximum or little less, and the sum of exp(a - origin), both in one reading: where an element, or the origin of
// other elements, exceeds it by more than 1, the sum is scaled to count from there (M. Milakov and N. Gimelshein, "Online
// normalizer calculation for softmax", 2018).
//   PAIRS 0: the source is the input; 1: what an earlier step has left
//   PADDED 1: over channels that leave the last texel of a pixel some padding, which is nothing
//   FOLD 1: the last step over channels, which leaves one texel: x: the origin of all channels, y: their sum;
//        0: a block leaves two columns, the origins and the sums
//   PIXELS 0: a block is one pixel, so that nothing but tiles is left to loop over; COLUMNS 0: it has one column
uniform ivec4 block; // images, tiles, rows, columns of the source, a pair being one

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

ivec2 place; // of a block's only column

Sum element(int k, int y, int x) {
#if PAIRS
    return Sum(A_fetch(k, y, 2 * x), A_fetch(k, y, 2 * x + 1));
#else
    return Sum(A_cell(k, y, place.x, place.y), vec4(1.0));
#endif
}

Sum line(int k, int y, int begin, int end) {
#if COLUMNS
    Sum total = NOTHING;
#if PAIRS
    for (int x = begin; x < end; x++)
        total = combine(total, element(k, y, x));
#else
#define ADD(v) total = combine(total, Sum(v, vec4(1.0)));
    A_COLUMNS(k, y, begin, end, ADD)
#endif
    return total;
#else
    return element(k, y, begin);
#endif
}

Sum add_up(int n, int t, int y, int x) {
    ivec4 start = ivec4(n, t, y, x) * block;
    ivec4 end = min(start + block, ivec4(A_size.x, A_grid.x, A_size.z, A_size.w / (1 + PAIRS)));
    Sum total = NOTHING;
    place = A_place(x);
    for (int u = start.y; u < end.y; u++) {
#if PIXELS
        Sum sum = NOTHING;
        for (int i = start.x; i < end.x; i++)
            for (int iy = start.z; iy < end.z; iy++)
                sum = combine(sum, line(i * A_grid.x + u, iy, start.w, end.w));
#else
        Sum sum = element(n * A_grid.x + u, y, x);
#endif
#if PADDED
        bvec4 holds = lessThan(ivec4(4 * u) + ivec4(0, 1, 2, 3), ivec4(A_size.y));
        sum = Sum(mix(NOTHING.origin, sum.origin, holds), mix(NOTHING.sum, sum.sum, holds));
#endif
        total = combine(total, sum);
    }
    // Where the maximum is infinite, nothing but NaN is left.
    vec4 difference = total.origin - total.origin;
    total.sum = mix(total.sum, difference, greaterThan(total.origin, vec4(3.402823466e38)));
    return total;
}

#if FOLD
vec4 kernel(int n, int t, int y, int x) {
    Sum s = add_up(n, t, y, x);
    float most = max(max(s.origin.x, s.origin.y), max(s.origin.z, s.origin.w));
    vec4 sum = s.sum * tsr_exp(s.origin - most, vec2(0.0));
    return vec4(most, sum.x + sum.y + (sum.z + sum.w), 0.0, 0.0);
}
#else
#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
    Sum s;
#define PART(j, unused)                                                                                               \
    if (j % 2 == 0)                                                                                                   \
        s = add_up(n, t, y, x / 2 + j / 2);                                                                           \
    v[j] = (x + j) % 2 == 0 ? s.origin : s.sum;
    EACH_PLANE(PART, 0)
}
#endif
