/* Compress, NonZero, Unique, NonMaxSuppression: what their shape rules have counted. */
#include "cpu/call.h"

#include "base/allocator.h"
#include "graph/infer.h"
#include "graph/selection.h"

#include <string.h>

/* One row for each axis. */
tsr_status tsr_cpu_non_zero(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    int64_t *out = tsr_call_out(call, 0), found = 0, count = tsr_call_out_shape(call, 0)->dim[1];
    for (int64_t i = 0; i < tsr_shape_count(shape); i++) {
        int64_t left = i;
        if (!tsr_is_nonzero(dtype, tsr_call_in(call, 0), i))
            continue;
        for (int axis = shape->rank - 1; axis >= 0; axis--) {
            out[axis * count + found] = left % shape->dim[axis];
            left /= shape->dim[axis];
        }
        found++;
    }
    return TSR_OK;
}

/* Copies slice `from` of the input to slice `to` of the result, along an axis of the input. */
static void copy_slice(const tsr_cpu_call *call, int axis, int64_t from, int64_t to) {
    const tsr_shape *in = tsr_call_in_shape(call, 0), *out = tsr_call_out_shape(call, 0);
    bool flat = axis == TSR_NONE;
    int64_t outer = flat ? 1 : tsr_dim_product(in, 0, axis),
            inner = flat ? 1 : tsr_dim_product(in, axis + 1, in->rank),
            in_count = flat ? tsr_shape_count(in) : in->dim[axis],
            out_count = out->dim[flat ? 0 : axis];
    size_t bytes = (size_t)inner * tsr_call_element_size(call);
    for (int64_t o = 0; o < outer; o++)
        memcpy((char *)tsr_call_out(call, 0) + (size_t)(o * out_count + to) * bytes,
               (const char *)tsr_call_in(call, 0) + (size_t)(o * in_count + from) * bytes, bytes);
}

tsr_status tsr_cpu_compress(const tsr_cpu_call *call) {
    const int64_t *condition = tsr_call_in(call, 1);
    int64_t chosen = 0;
    int axis = TSR_NONE;
    TSR_TRY(tsr_node_optional_axis(call->graph, call->node, &axis));
    for (int64_t i = 0; i < tsr_call_in_shape(call, 1)->dim[0]; i++)
        if (condition[i])
            copy_slice(call, axis, i, chosen++);
    return TSR_OK;
}

static void write_list(const tsr_cpu_call *call, int output, const int64_t *list, int64_t count) {
    int64_t *out = tsr_call_out(call, output);
    if (out && count)
        memcpy(out, list, (size_t)count * sizeof *list);
}

tsr_status tsr_cpu_unique(const tsr_cpu_call *call) {
    const tsr_value *x = tsr_node_in(call->graph, call->node, 0);
    tsr_unique unique;
    int axis = TSR_NONE;
    TSR_TRY(tsr_node_optional_axis(call->graph, call->node, &axis));
    TSR_TRY(tsr_find_unique(x->dtype, &x->shape, tsr_call_in(call, 0), axis,
                            tsr_attr_int(call->node, "sorted", 1) != 0, &unique));
    for (int64_t u = 0; u < unique.count && tsr_call_out(call, 0); u++)
        copy_slice(call, axis, unique.first[u], u);
    write_list(call, 1, unique.first, unique.count);
    write_list(call, 2, unique.inverse,
               axis == TSR_NONE ? tsr_shape_count(&x->shape) : x->shape.dim[axis]);
    write_list(call, 3, unique.repeated, unique.count);
    tsr_free(unique.first);
    return TSR_OK;
}

tsr_status tsr_cpu_non_max_suppression(const tsr_cpu_call *call) {
    tsr_boxes boxes;
    int64_t *chosen, count;
    TSR_TRY(tsr_node_boxes(call->graph, call->node, &boxes));
    TSR_TRY(tsr_choose_boxes(&boxes, &chosen, &count));
    write_list(call, 0, chosen, count * 3);
    tsr_free(chosen);
    return TSR_OK;
}
