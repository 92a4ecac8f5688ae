/* Conv and ConvTranspose. */
#include "lower/lower.h"

#include "base/error.h"

/* Weights in ONNX's order. Where a convolution is 3-D, the taps along the depth are input channels
 * of a 2-D one: channel and tap are neighbours in the weights, too. */
static tsr_convolution describe(tsr_plan *plan, const tsr_node *node, const tsr_window *w,
                                bool transposed) {
    const tsr_value *weights = tsr_node_in(plan->graph, node, 1);
    size_t area = (size_t)(w->kernel[TSR_ROWS] * w->kernel[TSR_COLUMNS]);
    int group = (int)w->group, rows = (int)weights->shape.dim[0],
        columns = (int)(weights->shape.dim[1] * w->kernel[TSR_DEPTH]);
    return (tsr_convolution){.window = tsr_flat_window(w),
                             .weights = weights->data,
                             .tensor =
                                 weights->data ? 0 : tsr_plan_value_as_is(plan, node->inputs[1]),
                             .constant = weights->model_constant,
                             .factor = 1,
                             .scale = weights->scale,
                             .stride_group = (size_t)(rows / group) * (size_t)columns * area,
                             .group_outputs = transposed ? columns : rows / group,
                             .group_inputs = transposed ? rows / group : columns,
                             .stride_output = transposed ? area : (size_t)columns * area,
                             .stride_input = transposed ? (size_t)columns * area : area};
}

/* The scale of each output channel for all of its taps. */
static const double *repeat_scale(tsr_plan *plan, const double *scale, int64_t channels,
                                  int64_t taps) {
    double *repeated = scale ? TSR_NEW(plan->arena, channels * taps, double) : NULL;
    if (scale && !repeated)
        tsr_plan_out_of_memory(plan);
    for (int64_t i = 0; repeated && i < channels * taps; i++)
        repeated[i] = scale[i / taps];
    return repeated;
}

/* A 2-D transposed convolution of each depth, whose output channels are channels and taps along the
 * depth: they are neighbours in the weights, too. Then the sums of the taps that meet at a depth.
 */
static tsr_status lower_transposed_volume(tsr_plan *plan, const tsr_node *node,
                                          const tsr_window *w) {
    const tsr_value *weights = tsr_node_in(plan->graph, node, 1);
    int bias = tsr_lower_channels(plan, node, 2);
    int64_t taps = w->kernel[TSR_DEPTH], channels = w->group * weights->shape.dim[1];
    tsr_problem problem = {.kind = TSR_CONV_TRANSPOSE,
                           .node = node,
                           .conv = describe(plan, node, w, true),
                           .output = TSR_NONE};
    int input = tsr_plan_input(plan, node);
    problem.conv.scale = repeat_scale(plan, weights->scale, channels, taps);
    if (plan->status != TSR_OK)
        return plan->status;
    const tsr_shape shape = {4,
                             {tsr_plan_layout(plan, input)->n * w->in[TSR_DEPTH], channels * taps,
                              w->out[TSR_ROWS], w->out[TSR_COLUMNS]}};
    problem.input = tsr_lower_depth_images(plan, input, w);
    problem.made = &shape;
    int taps_of_depths = tsr_lower_problem(plan, &problem)->output,
        output = tsr_plan_output(plan, node, 0);
    tsr_pass *pass =
        TSR_PASS(plan, output, depth_sum, .X = TSR_TENSOR(taps_of_depths),
                 .window_z = tsr_window_args(w, TSR_DEPTH), .depth = TSR_INT(w->in[TSR_DEPTH]));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, 4 * tsr_plan_layout(plan, output)->planes, 1, &taps);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, bias);
    return plan->status;
}

static tsr_status lower_conv_node(tsr_plan *plan, const tsr_node *node, bool transposed) {
    const tsr_value *weights = tsr_node_in(plan->graph, node, 1);
    tsr_window window;
    TSR_TRY(tsr_node_window(plan->graph, node, &window));
    bool volume = window.spatial_rank == TSR_WINDOW_AXES;
    if (volume && transposed)
        return lower_transposed_volume(plan, node, &window);
    int bias = tsr_lower_channels(plan, node, 2);
    tsr_problem problem = {.kind = transposed ? TSR_CONV_TRANSPOSE : TSR_CONV,
                           .node = node,
                           .conv = describe(plan, node, &window, transposed),
                           .input = tsr_plan_input(plan, node),
                           .output = TSR_NONE};
    if (volume && plan->status == TSR_OK) {
        int64_t depth = window.out[TSR_DEPTH], images = tsr_plan_layout(plan, problem.input)->n;
        const tsr_shape shape = {
            4,
            {images * depth, weights->shape.dim[0], window.out[TSR_ROWS], window.out[TSR_COLUMNS]}};
        problem.input = tsr_lower_depth_taps(plan, problem.input, &window);
        problem.output = tsr_plan_tensor_new(plan, &shape, false);
    }
    tsr_pass *pass = tsr_lower_problem(plan, &problem);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, bias);
    if (volume)
        TSR_PASS(plan, tsr_plan_output(plan, node, 0), depth_rows, .X = TSR_TENSOR(problem.output),
                 .depth = TSR_INT(window.out[TSR_DEPTH]));
    return plan->status;
}

tsr_status tsr_lower_conv(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, false);
}

tsr_status tsr_lower_conv_transpose(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, true);
}
