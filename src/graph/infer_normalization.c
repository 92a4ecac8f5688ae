/* Shape rules of the normalizations. */
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

/* Scale or bias: of the shape of the axes that are normalized. */
static tsr_status require_normalized(const tsr_value *parameter, const tsr_shape *shape, int axis) {
    if (!parameter)
        return TSR_OK;
    const tsr_shape normalized = tsr_shape_make(shape->rank - axis, shape->dim + axis);
    if (!tsr_shape_equal(&parameter->shape, &normalized))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "'%s' of shape %s does not have the shape %s",
                        parameter->name, tsr_shape_text(&parameter->shape),
                        tsr_shape_text(&normalized));
    return TSR_OK;
}

tsr_status tsr_infer_layer_normalization(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int axis;
    TSR_TRY(tsr_require_float(graph, node, 3));
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), x->shape.rank, &axis));
    TSR_TRY(require_normalized(tsr_node_in(graph, node, 1), &x->shape, axis));
    TSR_TRY(require_normalized(tsr_node_in(graph, node, 2), &x->shape, axis));
    tsr_shape shape = x->shape;
    for (int i = axis; i < shape.rank; i++)
        shape.dim[i] = 1;
    TSR_TRY(tsr_set_output(graph, node, 1, TSR_DTYPE_F32, &shape));
    TSR_TRY(tsr_set_output(graph, node, 2, TSR_DTYPE_F32, &shape));
    return tsr_infer_same(graph, node);
}
