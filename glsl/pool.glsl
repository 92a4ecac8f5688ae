// Sliding windows without weights. MODE 0: maximum; 1: average; 2: index of the maximum, as MaxPool's Indices.
uniform ivec4 window_y; // kernel, stride, dilation, pad
uniform ivec4 window_x;
uniform ivec4 counted;  // average: positions before and behind the image that count as pixels: top, left, rows, columns
uniform ivec4 order;    // indices: x 1 for column-major

vec4 kernel(int n, int t, int y, int x) {
    int k = n * A_grid.x + t;
    ivec2 start = ivec2(x * window_x.y - window_x.w, y * window_y.y - window_y.w);
    vec4 best = vec4(-3.402823466e38), index = vec4(0.0), sum = vec4(0.0);
    bool any = false;
    float count = 0.0;
    for (int ky = 0; ky < window_y.x; ky++) {
        int iy = start.y + ky * window_y.z;
        for (int kx = 0; kx < window_x.x; kx++) {
            int ix = start.x + kx * window_x.z;
            if (iy >= -counted.x && iy < counted.z && ix >= -counted.y && ix < counted.w)
                count += 1.0;
            if (iy < 0 || iy >= A_size.z || ix < 0 || ix >= A_size.w)
                continue;
            vec4 v = A_fetch(k, iy, ix);
            bvec4 better = any ? greaterThan(v, best) : bvec4(true);
            any = true;
            sum += v;
            best = mix(best, v, better);
#if MODE == 2
            int at = order.x == 1 ? ix * A_size.z + iy : iy * A_size.w + ix;
            ivec4 plane = (n * A_size.y + 4 * t + ivec4(0, 1, 2, 3)) * (A_size.z * A_size.w);
            index = mix(index, vec4(plane + at), better);
#endif
        }
    }
#if MODE == 0
    return best;
#elif MODE == 1
    return sum / max(count, 1.0);
#else
    return index;
#endif
}
