/* Shape rules of operators whose results' shapes depend on elements: Compress, NonZero, Unique,
 * NonMaxSuppression. */
#include "graph/rules.h"
#include "graph/selection.h"

#include "base/allocator.h"
#include "base/error.h"

static tsr_status require_elements(tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (!value)
            continue;
        if (!value->data && tsr_shape_count(&value->shape) != 0)
            return tsr_fail_until_run(
                "the shape of its result depends on input %d ('%s'), which is "
                "known only at run time",
                i, value->name);
        if (!tsr_graph_copy_to_arena(graph, node->inputs[i]))
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for tensor '%s'", value->name);
    }
    return TSR_OK;
}

static bool is_nonzero(const tsr_value *x, int64_t i) {
    return tsr_is_nonzero(x->dtype, x->data, i);
}

tsr_status tsr_infer_non_zero(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int64_t count = 0;
    TSR_TRY(require_elements(graph, node));
    for (int64_t i = 0; i < tsr_shape_count(&x->shape); i++)
        count += is_nonzero(x, i);
    return tsr_set_output(graph, node, 0, TSR_DTYPE_I64, &(tsr_shape){2, {x->shape.rank, count}});
}

tsr_status tsr_node_optional_axis(const tsr_graph *graph, const tsr_node *node, int *axis) {
    *axis = TSR_NONE;
    if (!tsr_node_attr(node, "axis"))
        return TSR_OK;
    return tsr_normalize_axis(tsr_attr_int(node, "axis", 0),
                              tsr_node_in(graph, node, 0)->shape.rank, axis);
}

tsr_status tsr_infer_compress(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *condition = tsr_node_in(graph, node, 1);
    int axis;
    if (condition->dtype != TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "a condition of type %s",
                        tsr_dtype_name(condition->dtype));
    TSR_TRY(tsr_require_rank(condition, 1, 1));
    TSR_TRY(tsr_node_optional_axis(graph, node, &axis));
    TSR_TRY(require_elements(graph, node));
    tsr_shape shape = x->shape;
    if (axis == TSR_NONE) {
        shape = (tsr_shape){1, {tsr_shape_count(&x->shape)}};
        axis = 0;
    }
    int64_t count = 0;
    for (int64_t i = 0; i < condition->shape.dim[0]; i++) {
        count += is_nonzero(condition, i);
        if (is_nonzero(condition, i) && i >= shape.dim[axis])
            return tsr_fail(TSR_ERROR_SHAPE, "the condition chooses slice %lld of %lld",
                            (long long)i, (long long)shape.dim[axis]);
    }
    shape.dim[axis] = count;
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_unique(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    tsr_unique unique;
    int axis;
    TSR_TRY(tsr_node_optional_axis(graph, node, &axis));
    TSR_TRY(require_elements(graph, node));
    if (axis != TSR_NONE && x->shape.dim[axis] > 0 && tsr_shape_count(&x->shape) == 0)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "slices without elements");
    TSR_TRY(tsr_find_unique(x->dtype, &x->shape, x->data, axis, true, &unique));
    tsr_free(unique.first);
    tsr_shape shape = axis == TSR_NONE ? (tsr_shape){.rank = 1} : x->shape,
              list = {1, {unique.count}},
              inverse = {1, {axis == TSR_NONE ? tsr_shape_count(&x->shape) : x->shape.dim[axis]}};
    shape.dim[axis == TSR_NONE ? 0 : axis] = unique.count;
    TSR_TRY(tsr_set_output(graph, node, 0, x->dtype, &shape));
    TSR_TRY(tsr_set_output(graph, node, 1, TSR_DTYPE_I64, &list));
    TSR_TRY(tsr_set_output(graph, node, 2, TSR_DTYPE_I64, &inverse));
    return tsr_set_output(graph, node, 3, TSR_DTYPE_I64, &list);
}

static tsr_status check_boxes(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *boxes = tsr_node_in(graph, node, 0), *scores = tsr_node_in(graph, node, 1),
                    *most = tsr_node_in(graph, node, 2);
    TSR_TRY(tsr_require_float(graph, node, 2));
    TSR_TRY(tsr_require_rank(boxes, 3, 3));
    TSR_TRY(tsr_require_rank(scores, 3, 3));
    if (boxes->shape.dim[2] != 4 || boxes->shape.dim[0] != scores->shape.dim[0] ||
        boxes->shape.dim[1] != scores->shape.dim[2])
        return tsr_fail(TSR_ERROR_SHAPE, "boxes of shape %s for scores of shape %s",
                        tsr_shape_text(&boxes->shape), tsr_shape_text(&scores->shape));
    if (most && most->dtype != TSR_DTYPE_I64)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "max_output_boxes_per_class of type %s",
                        tsr_dtype_name(most->dtype));
    for (int i = 2; i < 5; i++) {
        const tsr_value *limit = tsr_node_in(graph, node, i);
        TSR_TRY(tsr_require_scalar(limit));
        if (i > 2 && limit && !tsr_dtype_is_float(limit->dtype))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d is of type %s", i,
                            tsr_dtype_name(limit->dtype));
    }
    return TSR_OK;
}

tsr_status tsr_infer_non_max_suppression(tsr_graph *graph, tsr_node *node) {
    tsr_boxes boxes;
    int64_t count;
    TSR_TRY(check_boxes(graph, node));
    TSR_TRY(require_elements(graph, node));
    TSR_TRY(tsr_node_boxes(graph, node, &boxes));
    TSR_TRY(tsr_choose_boxes(&boxes, NULL, &count));
    return tsr_set_output(graph, node, 0, TSR_DTYPE_I64, &(tsr_shape){2, {count, 3}});
}
