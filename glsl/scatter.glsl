// The channels of X, each combined with all updates U whose index I names it, in their order; negative ones count from the
// end, and what is none of X's is ignored.
//   REDUCTION 0: the last one stays; 1: sum; 2: product; 3: largest; 4: least; NaN stays
//   SHARED 1: I has one column for all
vec4 combined(vec4 a, vec4 b) {
#if REDUCTION == 0
    return b;
#elif REDUCTION == 1
    return a + b;
#elif REDUCTION == 2
    return a * b;
#elif REDUCTION == 3
    return mix(b, a, tsr_larger(a, b));
#else
    return mix(b, a, tsr_larger(-a, -b));
#endif
}

vec4 kernel(int n, int t, int y, int x) {
    ivec4 own = 4 * t + ivec4(0, 1, 2, 3);
    vec4 v = X_fetch(n * u.X_tiles + t, y, x);
    for (int i = 0; i < u.I_tiles; i++) {
        ivec4 index = ivec4(I_fetch(n * u.I_tiles + i, y, SHARED == 1 ? 0 : x));
        index += ivec4(lessThan(index, ivec4(0))) * u.X_C;
        vec4 update = U_fetch(n * u.U_tiles + i, y, x);
        for (int lane = 0; lane < 4; lane++)
            v = mix(v, combined(v, vec4(update[lane])), equal(own, ivec4(4 * i + lane < u.I_C ? index[lane] : -1)));
    }
    return v;
}
