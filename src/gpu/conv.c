/* Convolutions: what their nodes ask for. */
#include "gpu/lower.h"

#include "base/error.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

void tsr_lower_steps(tsr_pass *pass, const tsr_window *w, int64_t steps[2]) {
    int64_t uniform[2];
    for (int i = 0; i < 2; i++) {
        steps[i] = w->stride[i] / greatest_common_divisor(w->stride[i], w->dilation[i]);
        /* A step as long as the kernel ends a loop as well, and tap + step stays an integer. */
        uniform[i] = steps[i] < w->kernel[i] ? steps[i] : w->kernel[i];
    }
    tsr_pass_ints(pass, "steps", (int)uniform[0], (int)uniform[1], 0, 0);
}

bool tsr_phase_tap(const tsr_window *w, const int64_t phase[2], const int64_t index[2],
                   size_t *element) {
    int64_t k[2];
    for (int i = 0; i < 2; i++)
        k[i] = (phase[i] + w->pad_begin[i]) % w->stride[i] + index[i] * w->stride[i];
    *element = (size_t)(k[0] * w->kernel[1] + k[1]);
    return k[0] < w->kernel[0] && k[1] < w->kernel[1];
}

static tsr_status lower_conv_node(tsr_plan *plan, const tsr_node *node, bool transposed) {
    const tsr_value *weights = tsr_node_in(plan->graph, node, 1);
    tsr_convolution conv = {.weights = weights->data, .factor = 1, .scale = weights->scale};
    TSR_TRY(tsr_node_window(plan->graph, node, &conv.window));
    size_t area = (size_t)(conv.window.kernel[0] * conv.window.kernel[1]);
    int group = (int)conv.window.group, rows = (int)weights->shape.dim[0],
        columns = (int)weights->shape.dim[1];
    conv.stride_group = (size_t)(rows / group) * (size_t)columns * area;
    conv.group_outputs = transposed ? columns : rows / group;
    conv.group_inputs = transposed ? rows / group : columns;
    conv.stride_output = transposed ? area : (size_t)columns * area;
    conv.stride_input = transposed ? (size_t)columns * area : area;
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass *pass =
        transposed ? plan->kernels->conv_transpose(plan, &conv, input, node)
                   : plan->kernels->convolution(plan, &conv, input, tsr_plan_output(plan, node, 0));
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}

tsr_status tsr_lower_conv(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, false);
}

tsr_status tsr_lower_conv_transpose(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, true);
}
