/* Shape rules of BatchNormalization and InstanceNormalization. */
#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_infer_batch_normalization(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    if (tsr_attr_int(node, "training_mode", 0) != 0 || tsr_node_out(graph, node, 1) ||
        tsr_node_out(graph, node, 2))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "training mode is not supported");
    /* Statistics may be of another floating type than x. */
    TSR_TRY(tsr_require_float(graph, node, 1));
    TSR_TRY(tsr_require_rank(x, 2, TSR_MAX_RANK));
    for (int i = 1; i < 5; i++) {
        const tsr_value *parameter = tsr_node_in(graph, node, i);
        if (!tsr_dtype_is_float(parameter->dtype))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d is of type %s", i,
                            tsr_dtype_name(parameter->dtype));
        TSR_TRY(tsr_require_vector(parameter, x->shape.dim[1]));
    }
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_instance_normalization(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    TSR_TRY(tsr_require_float(graph, node, 3));
    TSR_TRY(tsr_require_rank(x, 3, TSR_MAX_RANK));
    TSR_TRY(tsr_require_vector(tsr_node_in(graph, node, 1), x->shape.dim[1]));
    TSR_TRY(tsr_require_vector(tsr_node_in(graph, node, 2), x->shape.dim[1]));
    return tsr_infer_same(graph, node);
}
