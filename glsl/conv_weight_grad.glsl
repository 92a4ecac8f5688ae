// The gradient of a convolution's weights: sums of products of the gradient G of the result with the input X, over images and
// pixels. A fragment sums for a tap and four input channels t of a group: column tap * BLOCK + i is output channel i of block n.
//   BLOCK     output channels of a block: 8 or 4, of whole texels, PLANES of them in a fragment; 1: channels of its group begin
//             anywhere in a texel. 0: depthwise: four channels, each of which has an input of its own; the one block.
//   GROUPED   1: several groups of channels
//   segments, columns   of a row of G, and their columns; `units` segments are a partial sum, whose blocks follow each other
//   STRIDE    of columns
//   PAIRS     1: a fragment sums for two taps, STRIDE columns of the kernel apart, so that a column of X serves both: BLOCK is 4,
//             column 8 * pair + 4 * tap of the pair + i is output channel i. Pairs follow each other as the first of their taps
//   UNROLL    columns of G that a trip of the innermost loop reads; 1: one by one
#if SAMPLE
#define SUM_AT vec2 // texture coordinates
#define SUM_NUMBER float
vec2 sum_row(ivec2 texel, vec2 inverse) { return (vec2(texel) + 0.5) * inverse; }
vec2 sum_place(ivec2 place, vec2 inverse) { return vec2(place) * vec2(inverse.x, 1.0); }
vec2 sum_trip(int columns, int planes, vec2 inverse) { return vec2(columns, planes) * vec2(inverse.x, 1.0); }
float sum_zero(int row, vec2 inverse) { return (float(row) + 0.5) * inverse.y; }
#define SUM_READ(source, row, trip, place, inside, zero) \
    textureLod(source, vec3(row.x + trip.x + place.x, inside ? row.y : zero, trip.y + place.y), 0.0)
#else
#define SUM_AT ivec2
#define SUM_NUMBER int
ivec2 sum_row(ivec2 texel, vec2 inverse) { return texel; }
ivec2 sum_place(ivec2 place, vec2 inverse) { return place; }
ivec2 sum_trip(int columns, int planes, vec2 inverse) { return ivec2(columns, planes); }
int sum_zero(int row, vec2 inverse) { return row; }
#define SUM_READ(source, row, trip, place, inside, zero) \
    texelFetch(source, inside ? ivec3(row.x + trip.x + place.x, row.y, trip.y + place.y) : ivec3(0, zero, 0), 0)
#endif

// Pixels from x to y - 1 of `size`, a stride apart, of which the tap's are inside an image of `inside` pixels.
ivec2 within(int offset, int stride, int size, int inside) {
    int first = offset >= 0 ? 0 : tsr_quotient(-offset - 1, stride) + 1;
    return ivec2(first, offset >= inside ? 0 : min(size, tsr_quotient(inside - offset - 1, stride) + 1));
}

void kernel_row(int n, int t, int y, int x) {
#if PAIRS
    const int lane = 0;
    int pair = x / 8, ky = tsr_quotient(pair, u.window_x.kernel >> 1);
    int kx = pair - ky * (u.window_x.kernel >> 1);
    kx += kx / STRIDE * STRIDE;
#else
#if BLOCK
    int tap = x / BLOCK, lane = x - tap * BLOCK;
#else
    int tap = x;
#endif
    int ky = tsr_quotient(tap, u.window_x.kernel), kx = tap - ky * u.window_x.kernel;
#endif
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
#if PAIRS
    ivec2 second = within(offset.x + STRIDE, u.window_x.stride, u.G_W, u.X_W);
    columns = ivec2(min(columns.x, second.x), max(columns.y, second.y));
#endif
#for j PLANES
    v$j = vec4(0.0);
#endfor
#if UNROLL == 1 || X_LINEAR || G_LINEAR || X_FIRST || G_FIRST || X_LOW < X_PLANES || G_LOW < G_PLANES
#include conv_weight_grad_each
#elif STRIDE * UNROLL % (X_PLANES * X_STRIDE) || UNROLL % G_STRIDE
#include conv_weight_grad_each
#else
#include conv_weight_grad_unrolled
#endif
}
