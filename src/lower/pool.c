/* Pools: sliding windows without weights, and the mean of an image. */
#include "lower/reduction.h"

#include "base/error.h"

enum { POOL_MAXIMUM, POOL_AVERAGE, POOL_INDEX };

static tsr_args_counted counted(const tsr_window *w) {
    bool padded = w->count_include_pad;
    return (tsr_args_counted){TSR_INT(padded ? w->pad_begin[0] : 0),
                              TSR_INT(padded ? w->pad_begin[1] : 0),
                              TSR_INT(w->in[0] + (padded ? w->pad_end[0] : 0)),
                              TSR_INT(w->in[1] + (padded ? w->pad_end[1] : 0))};
}

/* Does each window hold a pixel? A dilated one may lie around the image. */
static bool meets_image(const tsr_window *w, int axis) {
    bool all = true;
    for (int64_t i = 0; i < w->out[axis] && all; i++) {
        int64_t start = i * w->stride[axis] - w->pad_begin[axis], dilation = w->dilation[axis];
        int64_t tap = start < 0 ? (dilation - 1 - start) / dilation : 0; /* first one inside */
        all = tap < w->kernel[axis] && start + tap * dilation < w->in[axis];
    }
    return all;
}

/* The columns that a fragment reads where its pixels can share them, by glsl/row.glsl; else 0. */
static int columns_shared(const tsr_plan *plan, const tsr_window *w, int output) {
    int64_t row = (tsr_plan_layout(plan, output)->planes - 1) * w->stride[1] +
                  (w->kernel[1] - 1) * w->dilation[1] + 1;
    bool shared = plan->device.language == TSR_GLSL && w->kernel[1] <= TSR_MAX_TAPS &&
                  w->kernel[0] <= TSR_MAX_ROW && row <= TSR_MAX_ROW && meets_image(w, 0) &&
                  meets_image(w, 1);
    return shared ? (int)row : 0;
}

static void lower_row(tsr_plan *plan, const tsr_window *w, int mode, int row, int input,
                      int output) {
    TSR_PASS(plan, output, pool_row, .X = TSR_TENSOR(input), .MODE = TSR_INT(mode),
             .TAPS = TSR_INT(w->kernel[1]), .ROW = TSR_INT(row), .STRIDE = TSR_INT(w->stride[1]),
             .DILATION = TSR_INT(w->dilation[1]), .window_y = tsr_window_args(w, 0),
             .counted = counted(w), .pad_x = TSR_INT(w->pad_begin[1]));
    tsr_plan_loops(plan, 1, 1, &w->kernel[0]);
}

static void lower_pool(tsr_plan *plan, const tsr_node *node, const tsr_window *w, int mode,
                       int output) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    int row = columns_shared(plan, w, output);
    if (row && mode != POOL_INDEX) {
        lower_row(plan, w, mode, row, input, output);
        return;
    }
    bool dilated = w->dilation[0] > 1 || w->dilation[1] > 1;
    TSR_PASS(plan, output, pool, .X = TSR_TENSOR(input), .MODE = TSR_INT(mode),
             .DILATED = TSR_INT(dilated), .window_y = tsr_window_args(w, 0),
             .window_x = tsr_window_args(w, 1), .counted = counted(w),
             .column_major = TSR_INT(tsr_attr_int(node, "storage_order", 0)));
    int64_t rows = w->kernel[0] < w->in[0] ? w->kernel[0] : w->in[0],
            columns = w->kernel[1] < w->in[1] ? w->kernel[1] : w->in[1];
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 2, (int64_t[]){rows, columns});
}

/* The mean of each image, in a pyramid. */
tsr_status tsr_lower_global_average_pool(tsr_plan *plan, const tsr_node *node) {
    int source = tsr_plan_value(plan, node->inputs[0]);
    const tsr_layout image = *tsr_plan_layout(plan, source);
    tsr_reduction_step step = {.last = false};
    while (!step.last && plan->status == TSR_OK) {
        const tsr_layout *l = tsr_plan_layout(plan, source);
        step = tsr_reduction_next(plan, l, &tsr_over_image,
                                  tsr_reduction_texels(plan, l, &tsr_over_image));
        int result =
            step.last ? tsr_plan_output(plan, node, 0) : tsr_reduction_result(plan, &step.shape);
        const tsr_args_extent block =
            tsr_extent_args(step.block[TSR_AXIS_H], step.block[TSR_AXIS_W]);
        const tsr_float_arg factor =
            TSR_FLOAT(step.last ? 1 / ((float)image.h * (float)image.w) : 1);
        if (step.by_groups)
            tsr_reduction_groups(TSR_PASS(plan, result, reduce_group, .X = TSR_TENSOR(source),
                                          .region = block, .factor = factor),
                                 &step);
        else
            TSR_PASS(plan, result, reduce, .X = TSR_TENSOR(source), .region = block,
                     .factor = factor);
        source = result;
    }
    return plan->status;
}

/* One window, the image itself: a pyramid of sums is faster than one fragment, and of any size. */
static bool covers_image(const tsr_window *w) {
    bool covers = true;
    for (int i = 0; i < 2; i++)
        covers = covers && w->kernel[i] == w->in[i] && w->dilation[i] == 1 && w->out[i] == 1 &&
                 w->pad_begin[i] == 0 && w->pad_end[i] == 0;
    return covers;
}

tsr_status tsr_lower_average_pool(tsr_plan *plan, const tsr_node *node) {
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    if (covers_image(&w))
        return tsr_lower_global_average_pool(plan, node);
    lower_pool(plan, node, &w, POOL_AVERAGE, tsr_plan_output(plan, node, 0));
    return plan->status;
}

tsr_status tsr_lower_max_pool(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *indices = tsr_node_out(plan->graph, node, 1);
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    if (indices && tsr_shape_count(&tsr_node_in(plan->graph, node, 0)->shape) > TSR_EXACT_FLOATS)
        return tsr_fail(TSR_UNSUPPORTED,
                        "Indices into more than 2^24 elements are not exact in floats");
    lower_pool(plan, node, &w, POOL_MAXIMUM, tsr_plan_output(plan, node, 0));
    if (indices) {
        int output =
            tsr_plan_tensor_new(plan, &indices->shape, true); /* 16 bits would round them */
        lower_pool(plan, node, &w, POOL_INDEX, output);
        if (output)
            plan->value_tensor[node->outputs[1]] = output;
    }
    return plan->status;
}
