// The largest element of each channel of an image.
vec4 kernel(int n, int t, int y, int x) {
    int k = n * u.X_tiles + t;
    vec4 largest = X_fetch(k, 0, 0);
    for (int iy = 0; iy < u.X_H; iy++)
        for (int ix = 0; ix < u.X_W; ix++) {
            vec4 v = X_fetch(k, iy, ix);
            largest = mix(largest, v, tsr_larger(v, largest));
        }
    return largest;
}
