// One step to the mean of an image: each fragment adds up a block of the input.
uniform ivec4 block; // rows, columns of one
uniform vec4 factor; // x: of the sum

vec4 kernel(int n, int t, int y, int x) {
    ivec2 begin = ivec2(y, x) * block.xy, end = min(begin + block.xy, A_size.zw);
    vec4 total = vec4(0.0);
    for (int iy = begin.x; iy < end.x; iy++) {
        vec4 sum = vec4(0.0);
#define ADD(v) sum += v;
        A_COLUMNS(n * A_grid.x + t, iy, begin.y, end.y, ADD)
        total += sum;
    }
    return total * factor.x;
}
