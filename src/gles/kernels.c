/* Convolutions, transposed convolutions and matrix products as fragments. */
#include "gles/kernels.h"

#include "base/error.h"

#include <string.h>

/* Of programs in plain text, to keep them short. */
enum { MAX_TAPS = 8, MAX_ROW = 64, MAX_SPREAD = 8 };

/* Where glsl/conv.glsl and its kin find the weights: see the comments on `table` there. */
typedef struct conv_table {
    tsr_convolution conv;
    int tiles;        /* input tiles that an output tile reads */
    int taps, chunks; /* of a kernel row */
    int width, blocks_log2;
} conv_table;

static size_t texel_index(const conv_table *t, size_t block, size_t within, size_t block_size) {
    size_t column = block & (((size_t)1 << t->blocks_log2) - 1);
    return (block >> t->blocks_log2) * (size_t)t->width + column * block_size + within;
}

/* The 4x4 channels of one output and one input tile, tap by tap: both sides are walked through in
 * memory's order. */
static void fill_tiles(const conv_table *t, int output_tile, int tile, float *texels) {
    const tsr_convolution *c = &t->conv;
    const float *kernels[4][4]; /* input, output */
    int first =
        (output_tile * 4 / c->group_outputs * c->group_inputs) >> 2; /* as in glsl/conv.glsl */
    for (int i = 0; i < 16; i++)
        kernels[i / 4][i % 4] =
            tsr_kernel_between(c, output_tile * 4 + i % 4, (first + tile) * 4 + i / 4);
    size_t pair = (size_t)output_tile * (size_t)t->tiles + (size_t)tile;
    size_t taps = (size_t)t->taps, kernel_h = (size_t)c->window.kernel[0],
           kernel_w = (size_t)c->window.kernel[1];
    for (size_t ky = 0; ky < kernel_h; ky++)
        for (size_t kx = 0; kx < kernel_w; kx++) {
            size_t block = (pair * kernel_h + ky) * (size_t)t->chunks + kx / taps;
            float *texel = texels + 4 * texel_index(t, block, kx % taps * 4, taps * 4);
            for (int i = 0; i < 16; i++) {
                const float *kernel = kernels[i / 4][i % 4];
                texel[i] = kernel ? kernel[ky * kernel_w + kx] * c->factor : 0;
            }
        }
}

static void fill_dense(const void *data, float *texels) {
    const conv_table *t = data;
    int outputs = t->conv.group_outputs * (int)t->conv.window.group;
    for (int output_tile = 0; output_tile * 4 < outputs; output_tile++)
        for (int tile = 0; tile < t->tiles; tile++)
            fill_tiles(t, output_tile, tile, texels);
}

static void fill_depthwise(const void *data, float *texels) {
    const conv_table *t = data;
    const tsr_convolution *c = &t->conv;
    size_t taps = (size_t)t->taps, kernel_h = (size_t)c->window.kernel[0],
           kernel_w = (size_t)c->window.kernel[1];
    for (size_t channel = 0; channel < (size_t)c->window.group; channel++)
        for (size_t ky = 0; ky < kernel_h; ky++)
            for (size_t kx = 0; kx < kernel_w; kx++) {
                size_t block = (channel / 4 * kernel_h + ky) * (size_t)t->chunks + kx / taps;
                texels[texel_index(t, block, kx % taps, taps) * 4 + channel % 4] =
                    c->weights[channel * c->stride_group + ky * kernel_w + kx] * c->factor;
            }
}

static void set_table(tsr_plan *plan, tsr_pass *pass, conv_table table, bool depthwise) {
    int64_t output_tiles = (table.conv.group_outputs * table.conv.window.group + 3) / 4;
    int64_t blocks = output_tiles * table.tiles * table.conv.window.kernel[0] * table.chunks;
    int block = depthwise ? table.taps : table.taps * 4;
    table.blocks_log2 = tsr_table_blocks(plan, pass, block, blocks);
    table.width = pass->table_w;
    tsr_pass_table(plan, pass, depthwise ? fill_depthwise : fill_dense, &table, sizeof table);
    tsr_pass_ints(pass, "channels", table.tiles, table.conv.group_outputs, table.conv.group_inputs,
                  table.blocks_log2);
}

/* What glsl/row.glsl needs. */
static void set_row(tsr_pass *pass, int taps, int row) {
    tsr_pass_repeat(pass, "TAPS", taps, "EACH_TAP");
    tsr_pass_repeat(pass, "ROW", row, "EACH_COLUMN");
}

static tsr_pass *lower_convolution(tsr_plan *plan, const tsr_convolution *conv, int input,
                                   int output) {
    const tsr_window *w = &conv->window;
    bool depthwise = conv->group_inputs == 1 && conv->group_outputs == 1 && w->group > 1;
    int chunks = (int)((w->kernel[1] + MAX_TAPS - 1) / MAX_TAPS),
        taps = (int)((w->kernel[1] + chunks - 1) / chunks);
    int64_t row = (tsr_plan_layout(plan, output)->planes - 1) * w->stride[1] +
                  (taps - 1) * w->dilation[1] + 1;
    bool any = row > MAX_ROW;
    depthwise = depthwise && !any;
    conv_table table = {*conv,
                        depthwise ? 1 : tsr_tiles_per_output(conv),
                        any ? 1 : taps,
                        any ? (int)w->kernel[1] : chunks,
                        0,
                        0};
    tsr_pass *pass = tsr_plan_pass(plan,
                                   any         ? "conv_any"
                                   : depthwise ? "conv_depthwise"
                                               : "conv",
                                   output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    set_table(plan, pass, table, depthwise);
    if (any) {
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                       (int64_t[]){table.tiles, w->kernel[0], w->kernel[1]});
        tsr_lower_window(pass, "window_x", w, 1);
        return pass;
    }
    tsr_plan_loops(plan, 1, 3, (int64_t[]){chunks, table.tiles, w->kernel[0]});
    tsr_pass_ints(pass, "window_x", chunks, 0, 0, (int)w->pad_begin[1]);
    tsr_pass_define(pass, "STRIDE", (int)w->stride[1]);
    tsr_pass_define(pass, "DILATION", (int)w->dilation[1]);
    set_row(pass, taps, (int)row);
    return pass;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

/* Does glsl/conv_transpose.glsl apply? It moves its output's pixels apart by the stride. */
static bool by_phases(const tsr_window *w) {
    return w->dilation[0] == 1 && w->dilation[1] == 1 && w->stride[1] <= MAX_SPREAD &&
           w->kernel[1] <= MAX_TAPS * w->stride[1];
}

static tsr_pass *lower_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                                  const tsr_node *node) {
    const tsr_window *w = &conv->window;
    int output = tsr_plan_output_spread(plan, node, 0, by_phases(w) ? (int)w->stride[1] : 1);
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t stride = w->stride[1];
    bool phases = by_phases(w) && (l->planes == 1 || l->spread == stride);
    int taps = (int)((w->kernel[1] + stride - 1) / stride);
    conv_table table = {*conv,
                        tsr_tiles_per_output(conv),
                        phases ? taps * (int)stride : 1,
                        phases ? 1 : (int)w->kernel[1],
                        0,
                        0};
    tsr_pass *pass = tsr_plan_pass(plan, phases ? "conv_transpose" : "conv_transpose_any", output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    set_table(plan, pass, table, false);
    if (!phases) {
        int64_t step[2];
        for (int i = 0; i < 2; i++)
            step[i] = w->stride[i] / greatest_common_divisor(w->stride[i], w->dilation[i]);
        tsr_pass_ints(pass, "steps", (int)step[0], (int)step[1], 0, 0);
        tsr_plan_loops(
            plan, l->planes, 3,
            (int64_t[]){table.tiles, w->kernel[0] / step[0] + 1, w->kernel[1] / step[1] + 1});
        return pass;
    }
    tsr_plan_loops(plan, 1, 2, (int64_t[]){table.tiles, w->kernel[0] / w->stride[0] + 1});
    tsr_pass_define(pass, "STRIDE", (int)stride);
    set_row(pass, taps, l->planes + taps - 1);
    return pass;
}

static tsr_pass *lower_matmul(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output) {
    tsr_pass *pass = tsr_plan_pass(plan, "matmul", output);
    tsr_pass_define(pass, "RANK", rank);
    tsr_pass_ints(pass, "inner", (int)inner, 0, 0, 0);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1, &inner);
    tsr_pass_source(plan, pass, a);
    tsr_pass_source(plan, pass, b);
    return pass;
}

const tsr_gpu_kernels tsr_gles_kernels = {
    .convolution = lower_convolution,
    .conv_transpose = lower_transposed,
    .matmul = lower_matmul,
};
