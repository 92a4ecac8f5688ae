/* Shape rules of element by element operators. */
#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_infer_unary(tsr_graph *graph, tsr_node *node) {
    bool is_for_integers = tsr_op_has(node->op, TSR_TYPES_NUMBERS);
    if (!is_for_integers || tsr_node_in(graph, node, 0)->dtype == TSR_DTYPE_BOOL)
        TSR_TRY(tsr_require_float(graph, node, 1));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_binary(tsr_graph *graph, tsr_node *node) {
    const tsr_value *a = tsr_node_in(graph, node, 0), *b = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_same_type(graph, node, 2));
    if (a->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "there is no arithmetic on bool");
    tsr_shape shape;
    TSR_TRY(tsr_broadcast(&a->shape, &b->shape, &shape));
    return tsr_set_output(graph, node, 0, a->dtype, &shape);
}

tsr_status tsr_infer_prelu(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *slope = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_float(graph, node, 2));
    tsr_shape shape;
    TSR_TRY(tsr_broadcast(&x->shape, &slope->shape, &shape));
    if (!tsr_shape_equal(&shape, &x->shape))
        return tsr_fail(TSR_ERROR_SHAPE, "a slope of shape %s cannot be broadcast to %s",
                        tsr_shape_text(&slope->shape), tsr_shape_text(&x->shape));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_clip(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_same_type(graph, node, 3));
    if (tsr_node_in(graph, node, 0)->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "there is no order on bool");
    TSR_TRY(tsr_require_scalar(tsr_node_in(graph, node, 1)));
    TSR_TRY(tsr_require_scalar(tsr_node_in(graph, node, 2)));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_not(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    if (dtype != TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is defined for bool, not for %s",
                        tsr_dtype_name(dtype));
    return tsr_infer_same(graph, node);
}
