/* Direct convolutions in fragments: the pixels of a fragment share a row of input and each texel of
 * weights. */
#include "algorithm/algorithm.h"

#include "base/divide.h"

enum { MAX_PIXEL_STRIDE = 8 };

/* Split-K over input tiles: enough partial sums for the device, each as short as the driver
 * demands. */
typedef struct split {
    int64_t count, tiles;
} split;

/* iterations: of the loops inside that over tiles. */
static split choose_split(const tsr_plan *plan, int output, int64_t tiles, int64_t iterations) {
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t count = tsr_busy_partials(plan, (int64_t)l->texture_w * l->texture_h, tiles);
    if (plan->max_loop_iterations && tiles * iterations / plan->max_loop_iterations >= count)
        count = tiles * iterations / plan->max_loop_iterations + 1;
    count = count < 1 ? 1 : count > tiles ? tiles : count;
    split s = {.tiles = tsr_divide_up(tiles, count)};
    s.count = tsr_divide_up(tiles, s.tiles);
    return s;
}

static tsr_args_split split_args(const tsr_plan *plan, const split *s, int output) {
    return (tsr_args_split){TSR_INT(s->tiles), TSR_INT(tsr_plan_layout(plan, output)->n)};
}

/* How a kernel's row is cut into chunks of taps, and the columns that a fragment then reads. */
typedef struct row_form {
    int chunks, taps;
    int64_t row;
} row_form;

static row_form choose_row(const tsr_plan *plan, const tsr_window *w, int output) {
    row_form f = {.chunks = (int)tsr_divide_up(w->kernel[1], TSR_MAX_TAPS)};
    f.taps = (int)tsr_divide_up(w->kernel[1], f.chunks);
    f.row = (tsr_plan_layout(plan, output)->planes - 1) * w->stride[1] +
            (f.taps - 1) * w->dilation[1] + 1;
    return f;
}

static tsr_pass *depthwise(tsr_plan *plan, const tsr_convolution *conv, const row_form *f,
                           int input, int output) {
    const tsr_window *w = &conv->window;
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, conv, f->taps, f->chunks, true);
    tsr_pass *pass =
        TSR_PASS(plan, output, conv_depthwise_direct, .X = TSR_TENSOR(input),
                 .TAPS = TSR_INT(f->taps), .ROW = TSR_INT(f->row), .STRIDE = TSR_INT(w->stride[1]),
                 .DILATION = TSR_INT(w->dilation[1]), .window_y = tsr_window_args(w, 0),
                 .chunks = TSR_INT(f->chunks), .pad_x = TSR_INT(w->pad_begin[1]),
                 .blocks_log2 = TSR_INT(weights.size.blocks_log2));
    tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, 1, 3, (int64_t[]){f->chunks, 1, w->kernel[0]});
    return pass;
}

tsr_pass *tsr_conv_direct(tsr_plan *plan, const tsr_convolution *conv, int input, int output) {
    const tsr_window *w = &conv->window;
    const row_form f = choose_row(plan, w, output);
    if (f.row > TSR_MAX_ROW)
        return tsr_conv_any(plan, conv, input, output);
    if (tsr_is_depthwise(conv))
        return depthwise(plan, conv, &f, input, output);
    split s = choose_split(plan, output, tsr_tiles_per_output(conv), w->kernel[0] + 2);
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, conv, f.taps, f.chunks, false);
    int partial = tsr_split_output(plan, output, s.count);
    tsr_pass *pass =
        TSR_PASS(plan, partial, conv_direct, .X = TSR_TENSOR(input), .TAPS = TSR_INT(f.taps),
                 .ROW = TSR_INT(f.row), .STRIDE = TSR_INT(w->stride[1]),
                 .DILATION = TSR_INT(w->dilation[1]), .window_y = tsr_window_args(w, 0),
                 .chunks = TSR_INT(f.chunks), .pad_x = TSR_INT(w->pad_begin[1]),
                 .channels = tsr_conv_channels(&weights), .split = split_args(plan, &s, output));
    tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, 1, 3, (int64_t[]){f.chunks, s.tiles, w->kernel[0]});
    return tsr_split_sum(plan, pass, output, s.count);
}

/* Does glsl/conv_transpose_direct.glsl apply? The pixels of its fragments are a stride apart. */
static bool by_phases(const tsr_window *w) {
    return w->dilation[0] == 1 && w->dilation[1] == 1 && w->stride[1] <= MAX_PIXEL_STRIDE &&
           w->kernel[1] <= TSR_MAX_TAPS * w->stride[1];
}

tsr_pass *tsr_conv_transpose_direct(tsr_plan *plan, const tsr_convolution *conv, int input,
                                    const tsr_node *node) {
    const tsr_window *w = &conv->window;
    int64_t stride = w->stride[1];
    if (!by_phases(w))
        return tsr_conv_transpose_any(plan, conv, input, node);
    int output = tsr_plan_output_strided(plan, node, 0, (int)stride);
    int taps = (int)tsr_divide_up(w->kernel[1], stride),
        planes = tsr_plan_layout(plan, output)->planes;
    split s =
        choose_split(plan, output, tsr_tiles_per_output(conv), w->kernel[0] / w->stride[0] + 2);
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, conv, taps * (int)stride, 1, false);
    int partial = tsr_split_output(plan, output, s.count);
    tsr_pass *pass = TSR_PASS(
        plan, partial, conv_transpose_direct, .X = TSR_TENSOR(input), .TAPS = TSR_INT(taps),
        .ROW = TSR_INT(planes + taps - 1), .STRIDE = TSR_INT(stride),
        .window_y = tsr_window_args(w, 0), .pad_x = TSR_INT(w->pad_begin[1]),
        .channels = tsr_conv_channels(&weights), .split = split_args(plan, &s, output));
    tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, 1, 2, (int64_t[]){s.tiles, w->kernel[0] / w->stride[0] + 1});
    return tsr_split_sum(plan, pass, output, s.count);
}
