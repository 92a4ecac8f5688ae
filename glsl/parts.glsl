// Puts together what glsl/conv_block.glsl left in parts: pixel (x, y) is pixel (x, y) / stride of phase (x, y) mod
// stride, the sum of all slices of that phase.
uniform ivec4 parts; // strides of rows and columns (1 for a convolution), slices, tiles beside each other in a column
vec4 kernel(int n, int t, int y, int x) {
    ivec2 at = ivec2(x, y) / parts.yx, phase = ivec2(x, y) - at * parts.yx;
    int first = (phase.y * parts.y + phase.x) * parts.z, pair = t / parts.w;
    int column = at.x * parts.w + t - pair * parts.w;
    vec4 sum = vec4(0.0);
    for (int slice = 0; slice < parts.z; slice++)
        sum += A_fetch(((first + slice) * O_size.x + n) * A_grid.x + pair, at.y, column);
    return sum;
}
