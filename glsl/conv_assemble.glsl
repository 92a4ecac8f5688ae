// Assembles the output from the partial sums of glsl/conv_uniform_block.glsl: output pixel (x, y) is pixel (x, y) / phases of
// phase (x, y) mod phases, summed over that phase's partial sums. A convolution has a single phase.
//   tiles_of_draw    output tiles that a draw interleaves along a row
vec4 kernel(int n, int t, int y, int x) {
    ivec2 phases = ivec2(u.phases_x, u.phases_y);
    ivec2 at = tsr_quotient(ivec2(x, y), phases), phase = ivec2(x, y) - at * phases;
    int first = (phase.y * u.phases_x + phase.x) * u.partials, pair = tsr_quotient(t, u.tiles_of_draw);
    int column = at.x * u.tiles_of_draw + t - pair * u.tiles_of_draw;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < u.partials; i++)
        sum += X_fetch(((first + i) * u.O_N + n) * u.X_tiles + pair, at.y, column);
    return sum;
}
