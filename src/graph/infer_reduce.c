/* Shape rules of reductions. */
#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_node_reduced_axes(const tsr_graph *graph, const tsr_node *node,
                                 bool reduced[TSR_MAX_RANK]) {
    const tsr_shape *shape = &tsr_node_in(graph, node, 0)->shape;
    const int64_t *given = NULL;
    int64_t count = 0;
    int axes[TSR_MAX_RANK];
    if (tsr_node_in(graph, node, 1))
        TSR_TRY(tsr_node_const_ints(graph, node, 1, &given, &count));
    TSR_TRY(tsr_read_axes(given, count, shape->rank, axes));
    bool all = count == 0 && !tsr_attr_int(node, "noop_with_empty_axes", 0);
    for (int i = 0; i < TSR_MAX_RANK; i++)
        reduced[i] = all && i < shape->rank;
    for (int64_t i = 0; i < count; i++)
        reduced[axes[i]] = true;
    return TSR_OK;
}

static tsr_status set_reduced(tsr_graph *graph, const tsr_node *node, tsr_dtype dtype,
                              const bool reduced[TSR_MAX_RANK]) {
    const tsr_shape *in = &tsr_node_in(graph, node, 0)->shape;
    bool keeps = tsr_attr_int(node, "keepdims", 1) != 0;
    tsr_shape shape = {.rank = 0};
    for (int i = 0; i < in->rank; i++)
        if (keeps || !reduced[i])
            shape.dim[shape.rank++] = reduced[i] ? 1 : in->dim[i];
    return tsr_set_output(graph, node, 0, dtype, &shape);
}

tsr_status tsr_infer_reduce(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    bool reduced[TSR_MAX_RANK];
    bool takes_bool = tsr_op_has(node->op, TSR_TYPES_BOOL),
         is_small = tsr_dtype_size(dtype) < 4 && !tsr_dtype_is_float(dtype);
    if ((dtype == TSR_DTYPE_BOOL || is_small) && !takes_bool)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is not defined for %s", tsr_dtype_name(dtype));
    TSR_TRY(tsr_node_reduced_axes(graph, node, reduced));
    return set_reduced(graph, node, dtype, reduced);
}

static tsr_status infer_arg(tsr_graph *graph, const tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    bool reduced[TSR_MAX_RANK] = {false};
    int axis;
    if (x->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "there is no order on bool");
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), x->shape.rank, &axis));
    if (x->shape.dim[axis] == 0)
        return tsr_fail(TSR_ERROR_SHAPE, "axis %d has no elements", axis);
    reduced[axis] = true;
    return set_reduced(graph, node, TSR_DTYPE_I64, reduced);
}

tsr_status tsr_infer_arg_max(tsr_graph *graph, tsr_node *node) {
    return infer_arg(graph, node);
}

tsr_status tsr_infer_arg_min(tsr_graph *graph, tsr_node *node) {
    return infer_arg(graph, node);
}
