// One step of a reduction: each fragment takes a block of the input. Sums over large images run as a pyramid of such
// steps, which keeps every fragment's work, and the rounding error, small.
//   OPERATION 0: sum; 1: maximum
//   MAP 0: a; 1: (a - b)^2, b one texel for a whole tile; 2: exp(a - b), b a tensor to broadcast
//   CHANNELS 1: all channels into one
//   BLOCKS 0: one pixel a block, so that nothing but channels is left to loop over
uniform ivec4 block; // images, unused, rows, columns of a block
uniform vec4 factor; // x: of the result

#if MAP == 1
vec4 subtracted; // the fragment's b, fetched once
vec4 mapped(int n, int t, int y, int x) {
    vec4 d = A_fetch(n * A_grid.x + t, y, x) - subtracted;
    return d * d;
}
#elif MAP == 2
vec4 mapped(int n, int t, int y, int x) {
    return exp(A_fetch(n * A_grid.x + t, y, x) - B_broadcast(n, t, y, x));
}
#else
vec4 mapped(int n, int t, int y, int x) { return A_fetch(n * A_grid.x + t, y, x); }
#endif

#if OPERATION == 1
#define NEUTRAL -3.402823466e38
#define COMBINE(a, b) max(a, b)
#else
#define NEUTRAL 0.0
#define COMBINE(a, b) ((a) + (b))
#endif

vec4 kernel(int n, int t, int y, int x) {
    vec4 total = vec4(NEUTRAL);
#if MAP == 1
    subtracted = B_broadcast(n, t, 0, 0);
#endif
#if CHANNELS
    int t_begin = 0, t_end = A_grid.x;
#else
    int t_begin = t, t_end = t + 1;
#endif
#if BLOCKS == 0
    for (int u = t_begin; u < t_end; u++) {
        bvec4 holds = lessThan(ivec4(4 * u) + ivec4(0, 1, 2, 3), ivec4(A_size.y));
        total = mix(total, COMBINE(total, mapped(n, u, y, x)), holds);
    }
#else
    ivec3 start = ivec3(n, y, x) * block.xzw, end = min(start + block.xzw, A_size.xzw);
    for (int i = start.x; i < end.x; i++)
        for (int u = t_begin; u < t_end; u++) {
            bvec4 holds = lessThan(ivec4(4 * u) + ivec4(0, 1, 2, 3), ivec4(A_size.y));
            for (int iy = start.y; iy < end.y; iy++) {
                vec4 line = vec4(NEUTRAL);
                for (int ix = start.z; ix < end.z; ix++)
                    line = COMBINE(line, mapped(i, u, iy, ix));
                total = mix(total, COMBINE(total, line), holds);
            }
        }
#endif
#if CHANNELS
    total = vec4(COMBINE(COMBINE(total.x, total.y), COMBINE(total.z, total.w)));
#endif
    return total * factor.x;
}
