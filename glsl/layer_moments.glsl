// Mean and 1 / standard deviation over the channels of a pixel, as channels 0 and 1. On GPUs that render to 16-bit floats
// only (HALF_ONLY), channel 2 has what channel 0 loses of the mean, and a quotient that 16 bits do not hold is the largest.
const int SHORT = 16; // tiles of a short sum: sums of those have small rounding errors

vec4 kernel(int n, int t, int y, int x) {
    int first = n * u.X_tiles;
    vec4 total = vec4(0.0);
    for (int begin = 0; begin < u.X_tiles; begin += SHORT) {
        vec4 sum = vec4(0.0);
        for (int i = begin; i < min(begin + SHORT, u.X_tiles); i++)
            sum += X_fetch(first + i, y, x);
        total += sum;
    }
    float mean = dot(total, vec4(1.0)) / float(u.X_C);
    vec4 squares = vec4(0.0);
    for (int begin = 0; begin < u.X_tiles; begin += SHORT) {
        vec4 sum = vec4(0.0);
        for (int i = begin; i < min(begin + SHORT, u.X_tiles); i++) {
            bvec4 holds = lessThan(ivec4(4 * i) + ivec4(0, 1, 2, 3), ivec4(u.X_C));
            vec4 d = mix(vec4(0.0), X_fetch(first + i, y, x) - mean, holds);
            sum += d * d;
        }
        squares += sum;
    }
    float variance = dot(squares, vec4(1.0)) / float(u.X_C);
#if HALF_ONLY
    float kept = tsr_half(vec4(mean)).x;
    return vec4(kept, min(1.0 / sqrt(variance + u.epsilon), 65504.0), mean - kept, 0.0);
#else
    return vec4(mean, 1.0 / sqrt(variance + u.epsilon), 0.0, 0.0);
#endif
}
