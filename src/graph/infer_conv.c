/* Shape rules and costs of Conv, ConvTranspose and ConvWeightGrad. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>

static tsr_status infer_convolution(tsr_graph *graph, const tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *w = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_float(graph, node, 3));
    tsr_window window;
    TSR_TRY(tsr_node_window(graph, node, &window));
    int64_t channels = node->op == TSR_OP_Conv ? w->shape.dim[0] : w->shape.dim[1] * window.group;
    tsr_shape shape = tsr_window_result(x, &window, channels);
    return tsr_set_output(graph, node, 0, tsr_sum_type(node, x->dtype), &shape);
}

tsr_status tsr_infer_conv(tsr_graph *graph, tsr_node *node) {
    return infer_convolution(graph, node);
}

tsr_status tsr_infer_conv_transpose(tsr_graph *graph, tsr_node *node) {
    return infer_convolution(graph, node);
}

/* X [N, C, ...] and the gradient of the result, [N, M, ...]: [M, C / group, kernel]. */
tsr_status tsr_infer_conv_weight_grad(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *dy = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_float(graph, node, 2));
    tsr_window window;
    TSR_TRY(tsr_node_window(graph, node, &window));
    TSR_TRY(tsr_require_rank(dy, x->shape.rank, x->shape.rank));
    int64_t channels = x->shape.dim[1], outputs = dy->shape.dim[1];
    if (channels % window.group != 0 || outputs % window.group != 0)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "%" PRId64 " groups do not divide %" PRId64 " and %" PRId64 " channels",
                        window.group, channels, outputs);
    TSR_TRY(tsr_require_gradient(graph, node, &window, outputs));
    tsr_shape shape = {.rank = x->shape.rank, .dim = {outputs, channels / window.group}};
    for (int i = 0; i < window.spatial_rank; i++)
        shape.dim[2 + i] = window.kernel[tsr_window_axis(&window, i)];
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- multiply-adds ---- */

/* Weights per index of their first axis; -1 while a dimension is unknown. */
static int64_t filter_size(const tsr_value *weights) {
    int64_t count = tsr_shape_count(&weights->shape);
    return count > 0 && weights->shape.rank > 0 ? count / weights->shape.dim[0] : -1;
}

/* Weights [Cout, Cin/group, ...]: each output sums one filter. */
int64_t tsr_macs_conv(const tsr_graph *graph, const tsr_node *node) {
    return tsr_count_macs(tsr_node_out(graph, node, 0), filter_size(tsr_node_in(graph, node, 1)));
}

/* Weights [Cin, Cout/group, ...]: each input is multiplied by one filter. */
int64_t tsr_macs_conv_transpose(const tsr_graph *graph, const tsr_node *node) {
    return tsr_count_macs(tsr_node_in(graph, node, 0), filter_size(tsr_node_in(graph, node, 1)));
}

/* Each pixel of the gradient is multiplied by what one filter read. */
int64_t tsr_macs_conv_weight_grad(const tsr_graph *graph, const tsr_node *node) {
    return tsr_count_macs(tsr_node_in(graph, node, 1), filter_size(tsr_node_out(graph, node, 0)));
}
