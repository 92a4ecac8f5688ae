/* Shape rules of the pools. */
#include "graph/rules.h"

#include "base/error.h"

static tsr_status infer_pool(tsr_graph *graph, const tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    TSR_TRY(tsr_require_float(graph, node, 1));
    tsr_window window;
    TSR_TRY(tsr_node_window(graph, node, &window));
    tsr_shape shape = tsr_window_result(x, &window, x->shape.dim[1]);
    TSR_TRY(tsr_set_output(graph, node, 1, TSR_DTYPE_I64, &shape));
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_max_pool(tsr_graph *graph, tsr_node *node) {
    return infer_pool(graph, node);
}

tsr_status tsr_infer_average_pool(tsr_graph *graph, tsr_node *node) {
    return infer_pool(graph, node);
}

tsr_status tsr_infer_max_pool_grad(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_float(graph, node, 2));
    tsr_window window;
    TSR_TRY(tsr_node_window(graph, node, &window));
    int64_t channels = tsr_node_in(graph, node, 0)->shape.dim[1];
    TSR_TRY(tsr_require_gradient(graph, node, &window, channels));
    return tsr_infer_same(graph, node);
}

static tsr_status infer_global_pool(tsr_graph *graph, const tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    TSR_TRY(tsr_require_float(graph, node, 1));
    TSR_TRY(tsr_require_rank(x, 3, TSR_MAX_RANK));
    tsr_shape shape = x->shape;
    for (int axis = 2; axis < shape.rank; axis++) {
        if (shape.dim[axis] == 0)
            return tsr_fail(TSR_ERROR_SHAPE, "the input has no pixels");
        shape.dim[axis] = 1;
    }
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_global_average_pool(tsr_graph *graph, tsr_node *node) {
    return infer_global_pool(graph, node);
}

tsr_status tsr_infer_global_max_pool(tsr_graph *graph, tsr_node *node) {
    return infer_global_pool(graph, node);
}
