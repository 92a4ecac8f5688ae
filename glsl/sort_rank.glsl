// For each element of a column how many others come before it when the column is sorted: NaN first, then larger ones (LARGEST
// 1) or smaller ones, of equal ones those above.
vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
    vec4 v = X_fetch(k, y, x), rank = vec4(0.0);
    uvec4 own_nan = uvec4(isnan(v));
    for (int i = 0; i < u.X_H; i++) {
        vec4 other = X_fetch(k, i, x);
        uvec4 nan = uvec4(isnan(other)), same = uvec4(equal(other, v)) | (nan & own_nan);
        uvec4 better = uvec4(LARGEST == 1 ? greaterThan(other, v) : lessThan(other, v)) | (nan & (1u - own_nan));
        rank += vec4(better | (i < y ? same : uvec4(0)));
    }
    return rank;
}
