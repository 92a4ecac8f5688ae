// Softmax over at most four channels: in one pass.
//   LOGS 1    the logarithm of it
vec4 kernel(int n, int t, int y, int x) {
    vec4 texel = X_own(n, t, y, x);
    bvec4 holds = lessThan(ivec4(0, 1, 2, 3), ivec4(u.X_C));
    vec4 v = mix(texel.xxxx, texel, holds); // padding channels repeat the first and are not summed
    vec4 difference = v - max(max(v.x, v.y), max(v.z, v.w));
    vec4 e = tsr_exp(difference, vec2(0.0)) * vec4(holds);
#if LOGS
    return difference - log(e.x + e.y + (e.z + e.w));
#else
    return e / (e.x + e.y + (e.z + e.w));
#endif
}
