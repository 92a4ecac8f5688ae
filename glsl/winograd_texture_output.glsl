// Winograd's output transform for src/algorithm/conv_winograd_texture.c: a pixel's row and column each add three of a tile's four
// positions. Tile k of the input is (position, phase, tile t), its columns are tiles of pixels.
//   PIXELS              rows and columns of a tile: 2 or 3
//   phases_y, phases_x  of a transposed convolution, one for each pixel modulo these; pad_y, pad_x: modulo these
//   position_tiles      of a position; columns: tiles in a row of the image
// The factors of the second and third position for pixel i.
vec2 factors(int i) {
    float second = i == 1 ? -1.0 : 1.0;
#if PIXELS == 2
    return vec2(second);
#else
    return vec2(second, float(1 - i));
#endif
}

void kernel_row(int n, int t, int y, int x) {
    float inverse = 1.0 / float(u.phases_x);
    int whole = tsr_quotient(y, u.phases_y), phase = y - whole * u.phases_y;
    int at = whole + (phase + u.pad_y >= u.phases_y ? 1 : 0); // of such a phase a tile's first pixel is the one before
    int row = tsr_divide(at, 1.0 / float(PIXELS)), pixel = at - row * PIXELS;
    int k = n * u.X_tiles + t + phase * u.phases_x * u.O_tiles + 4 * min(pixel, 1) * u.position_tiles;
    vec2 factors_y = factors(pixel);
#for j PLANES
    int x$j = min(x + $j, u.O_W - 1), whole$j = tsr_divide(x$j, inverse), phase$j = x$j - whole$j * u.phases_x;
    int at$j = whole$j + (phase$j + u.pad_x >= u.phases_x ? 1 : 0);
    int tile$j = tsr_divide(at$j, 1.0 / float(PIXELS)), pixel$j = at$j - tile$j * PIXELS;
    int k$j = k + phase$j * u.O_tiles + min(pixel$j, 1) * u.position_tiles;
    vec2 factors$j = factors(pixel$j);
    tile$j += row * u.columns;
    v$j = vec4(0.0);
#endfor
    for (int i = 0; i < 9; i++) { // so that compilers see one texel of a pixel, not nine
        int line = i / 3, column = i - 3 * line, tiles = (4 * line + column) * u.position_tiles;
        float factor = line == 0 ? 1.0 : line == 1 ? factors_y.x : factors_y.y;
#for j PLANES
        v$j += factor * (column == 0 ? 1.0 : column == 1 ? factors$j.x : factors$j.y) * X_fetch(k$j + tiles, 0, tile$j);
#endfor
    }
}
