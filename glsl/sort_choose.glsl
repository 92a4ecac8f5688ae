// Row y of the result: of each column of X the element of rank y, which R tells (glsl/sort_rank.glsl), or, INDEX 1, its row.
vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.R_tiles + t;
    vec4 result = vec4(0.0);
    for (int i = 0; i < u.R_H; i++) {
        bvec4 chosen = equal(R_fetch(k, i, x), vec4(float(y)));
#if INDEX
        result = mix(result, vec4(float(i)), chosen);
#else
        result = mix(result, X_fetch(k, i, x), chosen);
#endif
    }
    return result;
}
