// Adds up the slices of a sum, each of which fills as many images as the output has.
uniform ivec4 slices; // x: how many
vec4 kernel(int n, int t, int y, int x) {
    vec4 sum = vec4(0.0);
    for (int slice = 0; slice < slices.x; slice++)
        sum += A_fetch((slice * O_size.x + n) * A_grid.x + t, y, x);
    return sum;
}
