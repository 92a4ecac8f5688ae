// The gradient of a convolution's weights: sums of products of the gradient G of the result with the input X, over images and
// pixels. A fragment sums for a tap and four input channels t of a group: column tap * BLOCK + i is output channel i of block n.
//   BLOCK     output channels of a block: 8 or 4, of whole texels, PLANES of them in a fragment; 1: channels of its group begin
//             anywhere in a texel. 0: depthwise: four channels, each of which has an input of its own; the one block.
//   GROUPED   1: several groups of channels
//   segments, columns   of a row of G, and their columns; `units` segments are a partial sum, whose blocks follow each other
// Pixels from x to y - 1 of `size`, a stride apart, of which the tap's are inside an image of `inside` pixels.
ivec2 within(int offset, int stride, int size, int inside) {
    int first = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
    return ivec2(first, offset >= inside ? 0 : min(size, (inside - offset - 1) / stride + 1));
}

void kernel_row(int n, int t, int y, int x) {
#if BLOCK
    int tap = x / BLOCK, lane = x - tap * BLOCK;
#else
    int tap = x;
#endif
    int ky = tsr_quotient(tap, u.window_x.kernel), kx = tap - ky * u.window_x.kernel;
    int partial = tsr_quotient(n, u.blocks), block = n - partial * u.blocks;
#if BLOCK == 0
    int tile = t, input_tile = t;
#else
    int first = block * BLOCK + lane, tile = first >> 2;
#if GROUPED
    int channel = tsr_quotient(first, u.group_outputs) * u.group_inputs + 4 * t;
#else
    int channel = 4 * t;
#endif
#if BLOCK == 1
    ivec4 c = min(channel + ivec4(0, 1, 2, 3), u.X_C - 1); // padding channels: any value
#else
    int input_tile = channel >> 2;
#endif
#endif
    ivec2 offset = ivec2(kx * u.window_x.dilation - u.window_x.pad, ky * u.window_y.dilation - u.window_y.pad);
    ivec2 rows = within(offset.y, u.window_y.stride, u.G_H, u.X_H);
    ivec2 columns = within(offset.x, u.window_x.stride, u.G_W, u.X_W);
#for j PLANES
    v$j = vec4(0.0);
#endfor
    int row_units = u.G_H * u.segments, end = min((partial + 1) * u.units, u.G_N * row_units);
    for (int unit = partial * u.units; unit < end; unit++) {
        int image = tsr_quotient(unit, row_units), rest = unit - image * row_units;
        int oy = tsr_quotient(rest, u.segments), begin = (rest - oy * u.segments) * u.columns;
        if (oy < rows.x || oy >= rows.y)
            continue;
        int iy = oy * u.window_y.stride + offset.y, last = min(begin + u.columns, columns.y);
#for j PLANES
        vec4 row$j = vec4(0.0);
#endfor
        for (int ox = max(begin, columns.x); ox < last; ox++) {
            int ix = ox * u.window_x.stride + offset.x;
#if BLOCK == 1
            row0 += G_at(image, first, oy, ox) * vec4(X_at(image, c.x, iy, ix), X_at(image, c.y, iy, ix), X_at(image, c.z, iy, ix),
                                                      X_at(image, c.w, iy, ix));
#else
            vec4 a = X_fetch(image * u.X_tiles + input_tile, iy, ix);
#for i (PLANES + 3) / 4
            vec4 g$i = G_fetch(image * u.G_tiles + min(tile + $i, u.G_tiles - 1), oy, ox);
#endfor
#for j PLANES
#if BLOCK == 0
            row$j += a * g0;
#elif PLANES < 4
            row$j += a * g0[(lane & 3) + $j];
#else
            row$j += a * g${j / 4}[${j % 4}];
#endif
#endfor
#endif
        }
#for j PLANES
        v$j += row$j;
#endfor
    }
}
