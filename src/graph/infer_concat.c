/* Shape rules of Concat and Split. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>

tsr_status tsr_infer_concat(tsr_graph *graph, tsr_node *node) {
    const tsr_value *first = tsr_node_in(graph, node, 0);
    const tsr_attr *attr = tsr_node_attr(node, "axis");
    if (!attr || attr->kind != TSR_ATTR_INT)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it has no axis");
    int axis;
    TSR_TRY(tsr_normalize_axis(attr->i, first->shape.rank, &axis));
    TSR_TRY(tsr_require_same_type(graph, node, node->input_count));
    tsr_shape shape = first->shape;
    for (int i = 1; i < node->input_count; i++) {
        tsr_shape next = tsr_node_in(graph, node, i)->shape;
        int64_t size = next.rank == shape.rank ? next.dim[axis] : 0;
        next.dim[axis] = shape.dim[axis];
        if (!tsr_shape_equal(&next, &shape))
            return tsr_fail(TSR_ERROR_SHAPE, "input %d differs from input 0 off axis %d", i, axis);
        shape.dim[axis] += size; /* below 2^31 each, and input_count is an int: no overflow */
    }
    return tsr_set_output(graph, node, 0, first->dtype, &shape);
}

/* Sizes given by the input "split". */
static tsr_status check_split_sizes(const int64_t *sizes, int64_t count, int outputs,
                                    int64_t size) {
    if (count != outputs)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "split has %" PRId64 " elements for %d outputs",
                        count, outputs);
    int64_t rest = size;
    for (int i = 0; i < outputs; i++) {
        if (sizes[i] < 0)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "split[%d] is %" PRId64, i, sizes[i]);
        if (sizes[i] > rest)
            return tsr_fail(TSR_ERROR_SHAPE, "the parts add up to more than %" PRId64, size);
        rest -= sizes[i];
    }
    return rest == 0 ? TSR_OK
                     : tsr_fail(TSR_ERROR_SHAPE, "the parts add up to less than %" PRId64, size);
}

/* The size of all parts but the last, which may be smaller if num_outputs is given. */
static tsr_status equal_part(const tsr_node *node, int64_t size, int64_t *part) {
    int outputs = node->output_count;
    bool uneven = tsr_node_attr(node, "num_outputs") != NULL;
    if (tsr_attr_int(node, "num_outputs", outputs) != outputs)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "num_outputs differs from the %d outputs",
                        outputs);
    *part = (size + outputs - 1) / outputs;
    if (uneven ? *part * (outputs - 1) > size : size % outputs != 0)
        return tsr_fail(TSR_ERROR_SHAPE, "%" PRId64 " cannot be split into %d parts", size,
                        outputs);
    return TSR_OK;
}

tsr_status tsr_infer_split(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    const int64_t *sizes = NULL;
    int axis, outputs = node->output_count;
    int64_t count, part = 0;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), x->shape.rank, &axis));
    int64_t size = x->shape.dim[axis];
    if (tsr_node_in(graph, node, 1)) {
        if (tsr_node_attr(node, "num_outputs"))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "both split and num_outputs are given");
        TSR_TRY(tsr_node_const_ints(graph, node, 1, &sizes, &count));
        TSR_TRY(check_split_sizes(sizes, count, outputs, size));
    } else {
        TSR_TRY(equal_part(node, size, &part));
    }
    tsr_dtype dtype = x->dtype;
    tsr_shape shape = x->shape;
    for (int i = 0; i < outputs; i++) {
        bool last = i == outputs - 1;
        shape.dim[axis] = sizes ? sizes[i] : last ? size - part * (outputs - 1) : part;
        TSR_TRY(tsr_set_output(graph, node, i, dtype, &shape));
    }
    return TSR_OK;
}
