// Winograd's input transform for src/algorithm/conv_winograd_texture.c: tile t of the output is (position, part of the image, tile
// of the input), a part being every stride-th pixel; column x is a tile of pixels. One program for all strides: compiling more
// takes longer than they would save.
//   POSITIONS        4: rows and columns of a transformed tile
//   inputs           tiles of a position
//   columns, pixels  tiles in a row of the image, pixels by which they are apart
//   pad_y, pad_x     by which the first tile begins before the image
#include winograd_transform

void kernel_row(int n, int t, int y, int x) {
    int position = tsr_quotient(t, u.inputs), k = t - position * u.inputs;
    int part = tsr_quotient(k, u.X_tiles), part_row = tsr_quotient(part, u.stride_x);
    ivec3 rows = transform(position >> 2), columns = transform(position & 3);
    ivec2 stride = ivec2(u.stride_x, u.stride_y);
    ivec2 begin = ivec2(part - part_row * u.stride_x, part_row) - ivec2(u.pad_x, u.pad_y);
    k += (n - part) * u.X_tiles;
    float inverse = 1.0 / float(u.columns);
#for j PLANES
    int row$j = tsr_divide(x + $j, inverse);
    ivec2 at$j = begin + u.pixels * stride * ivec2(x + $j - row$j * u.columns, row$j);
    v$j = vec4(0.0);
#endfor
    for (int i = 0; i < 4; i++) { // so that compilers see one texel of a pixel, not four
        ivec2 from = stride * ivec2((i & 1) == 0 ? columns.x : columns.y, i < 2 ? rows.x : rows.y);
        float sign = float(((i & 1) == 0 ? 1 : columns.z) * (i < 2 ? 1 : rows.z));
#for j PLANES
        v$j += sign * X_pixel(k, at$j.y + from.y, at$j.x + from.x);
#endfor
    }
}
