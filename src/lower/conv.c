/* Conv and ConvTranspose. */
#include "lower/lower.h"

static tsr_status lower_conv_node(tsr_plan *plan, const tsr_node *node, bool transposed) {
    const tsr_value *weights = tsr_node_in(plan->graph, node, 1);
    tsr_convolution conv = {.weights = weights->data,
                            .constant = weights->model_constant,
                            .factor = 1,
                            .scale = weights->scale};
    TSR_TRY(tsr_node_window(plan->graph, node, &conv.window));
    size_t area = (size_t)(conv.window.kernel[0] * conv.window.kernel[1]);
    int group = (int)conv.window.group, rows = (int)weights->shape.dim[0],
        columns = (int)weights->shape.dim[1];
    conv.stride_group = (size_t)(rows / group) * (size_t)columns * area;
    conv.group_outputs = transposed ? columns : rows / group;
    conv.group_inputs = transposed ? rows / group : columns;
    conv.stride_output = transposed ? area : (size_t)columns * area;
    conv.stride_input = transposed ? (size_t)columns * area : area;
    const tsr_problem problem = {.kind = transposed ? TSR_CONV_TRANSPOSE : TSR_CONV,
                                 .node = node,
                                 .conv = conv,
                                 .input = tsr_plan_value(plan, node->inputs[0]),
                                 .output = TSR_NONE};
    tsr_pass *pass = tsr_lower_problem(plan, &problem);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}

tsr_status tsr_lower_conv(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, false);
}

tsr_status tsr_lower_conv_transpose(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, true);
}
