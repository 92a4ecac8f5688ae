/* Elements by index: GatherElements, GatherND, ScatterElements, ScatterND; TopK. */
#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static tsr_status check_index(int64_t index, int64_t size, int64_t *at) {
    if (index < -size || index >= size)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "index %" PRId64 " of %" PRId64, index, size);
    *at = index < 0 ? index + size : index;
    return TSR_OK;
}

/* ---- along an axis ---- */

/* The offset in the data of the element that element i of the indices chooses. */
static tsr_status find_element(const tsr_cpu_call *call, int axis, int64_t i, int64_t *offset) {
    const tsr_shape *data = tsr_call_in_shape(call, 0), *indices = tsr_call_in_shape(call, 1);
    int64_t stride[TSR_MAX_RANK], at = 0;
    TSR_TRY(check_index(((const int64_t *)tsr_call_in(call, 1))[i], data->dim[axis], &at));
    tsr_cpu_strides(data, stride);
    *offset = 0;
    for (int k = data->rank - 1; k >= 0; k--) {
        *offset += (k == axis ? at : i % indices->dim[k]) * stride[k];
        i /= indices->dim[k];
    }
    return TSR_OK;
}

tsr_status tsr_cpu_gather_elements(const tsr_cpu_call *call) {
    size_t size = tsr_call_element_size(call);
    const char *in = tsr_call_in(call, 0);
    char *out = tsr_call_out(call, 0);
    int64_t count = tsr_shape_count(tsr_call_in_shape(call, 1)), offset;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", 0),
                               tsr_call_in_shape(call, 0)->rank, &axis));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(find_element(call, axis, i, &offset));
        memcpy(out + (size_t)i * size, in + (size_t)offset * size, size);
    }
    return TSR_OK;
}

/* ---- by tuples ---- */

/* The offset in the data of the block that tuple i chooses. */
static tsr_status find_block(const tsr_cpu_call *call, int batch_dims, int64_t i, int64_t *offset) {
    const tsr_shape *data = tsr_call_in_shape(call, 0), *indices = tsr_call_in_shape(call, 1);
    const int64_t *tuples = tsr_call_in(call, 1);
    int64_t length = indices->dim[indices->rank - 1], stride[TSR_MAX_RANK], at = 0;
    int64_t inner = tsr_dim_product(indices, batch_dims, indices->rank - 1), batch = i / inner;
    tsr_cpu_strides(data, stride);
    *offset = batch_dims ? batch * stride[batch_dims - 1] : 0;
    for (int64_t k = 0; k < length; k++) {
        TSR_TRY(check_index(tuples[i * length + k], data->dim[batch_dims + k], &at));
        *offset += at * stride[batch_dims + k];
    }
    return TSR_OK;
}

static int64_t count_tuples(const tsr_shape *indices) {
    return tsr_dim_product(indices, 0, indices->rank - 1);
}

/* Elements of a block: what is left of the data's axes. */
static int64_t block_length(const tsr_cpu_call *call, int batch_dims) {
    const tsr_shape *data = tsr_call_in_shape(call, 0), *indices = tsr_call_in_shape(call, 1);
    return tsr_dim_product(data, batch_dims + (int)indices->dim[indices->rank - 1], data->rank);
}

tsr_status tsr_cpu_gather_nd(const tsr_cpu_call *call) {
    int batch_dims = (int)tsr_attr_int(call->node, "batch_dims", 0);
    size_t block = (size_t)block_length(call, batch_dims) * tsr_call_element_size(call);
    const char *in = tsr_call_in(call, 0);
    char *out = tsr_call_out(call, 0);
    int64_t count = count_tuples(tsr_call_in_shape(call, 1)), offset;
    for (int64_t i = 0; i < count; i++, out += block) {
        TSR_TRY(find_block(call, batch_dims, i, &offset));
        memcpy(out, in + (size_t)offset * tsr_call_element_size(call), block);
    }
    return TSR_OK;
}

/* ---- scattering ---- */

static float combine_floats(tsr_scatter_reduction reduction, float a, float b) {
    switch (reduction) {
    case TSR_SCATTER_ADD:
        return a + b;
    case TSR_SCATTER_MULTIPLY:
        return a * b;
    case TSR_SCATTER_LARGEST:
        return isnan(a) || a > b ? a : b;
    case TSR_SCATTER_LEAST:
        return isnan(a) || a < b ? a : b;
    default:
        return b;
    }
}

static int64_t combine_ints(tsr_scatter_reduction reduction, tsr_dtype dtype, int64_t a,
                            int64_t b) {
    bool a_is_larger = tsr_dtype_order(dtype, a) > tsr_dtype_order(dtype, b);
    switch (reduction) {
    case TSR_SCATTER_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case TSR_SCATTER_MULTIPLY:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case TSR_SCATTER_LARGEST:
        return a_is_larger ? a : b;
    case TSR_SCATTER_LEAST:
        return a_is_larger ? b : a;
    default:
        return b;
    }
}

/* `count` updates from element `first` on, to elements of the result from `offset` on. */
static void update(const tsr_cpu_call *call, tsr_scatter_reduction reduction, int64_t first,
                   int64_t offset, int64_t count) {
    tsr_dtype dtype = tsr_node_out(call->graph, call->node, 0)->dtype;
    if (tsr_dtype_is_float(dtype)) {
        const float *from = (const float *)tsr_call_in(call, 2) + first;
        float *to = (float *)tsr_call_out(call, 0) + offset;
        for (int64_t i = 0; i < count; i++)
            to[i] = combine_floats(reduction, to[i], from[i]);
    } else {
        const int64_t *from = (const int64_t *)tsr_call_in(call, 2) + first;
        int64_t *to = (int64_t *)tsr_call_out(call, 0) + offset;
        for (int64_t i = 0; i < count; i++)
            to[i] = tsr_dtype_wrap(dtype, combine_ints(reduction, dtype, to[i], from[i]));
    }
}

static tsr_status begin_scatter(const tsr_cpu_call *call, tsr_scatter_reduction *reduction) {
    memcpy(tsr_call_out(call, 0), tsr_call_in(call, 0),
           tsr_cpu_bytes(tsr_node_out(call->graph, call->node, 0)));
    return tsr_node_scatter_reduction(call->node, reduction);
}

tsr_status tsr_cpu_scatter_elements(const tsr_cpu_call *call) {
    tsr_scatter_reduction reduction;
    int64_t count = tsr_shape_count(tsr_call_in_shape(call, 1)), offset;
    int axis;
    TSR_TRY(begin_scatter(call, &reduction));
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", 0),
                               tsr_call_in_shape(call, 0)->rank, &axis));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(find_element(call, axis, i, &offset));
        update(call, reduction, i, offset, 1);
    }
    return TSR_OK;
}

tsr_status tsr_cpu_scatter_nd(const tsr_cpu_call *call) {
    tsr_scatter_reduction reduction;
    int64_t block = block_length(call, 0), count = count_tuples(tsr_call_in_shape(call, 1)), offset;
    TSR_TRY(begin_scatter(call, &reduction));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(find_block(call, 0, i, &offset));
        update(call, reduction, i * block, offset, block);
    }
    return TSR_OK;
}

/* Where an update is written along the axis. */
static tsr_status find_place(const tsr_tensor_scatter *scatter, int64_t start, int64_t i,
                             int64_t size, int64_t *place) {
    int64_t at = scatter->circular ? start % size + i : i < size - start ? start + i : -1;
    if (scatter->circular)
        *place = (at + size) % size;
    else if (start < 0 || at < 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "update %" PRId64 " from %" PRId64 " on is beyond %" PRId64, i, start,
                        size);
    else
        *place = at;
    return TSR_OK;
}

tsr_status tsr_cpu_tensor_scatter(const tsr_cpu_call *call) {
    const tsr_shape *past = tsr_call_in_shape(call, 0), *update = tsr_call_in_shape(call, 1);
    const int64_t *starts = tsr_call_in(call, 2);
    tsr_tensor_scatter scatter;
    TSR_TRY(tsr_node_tensor_scatter(call->graph, call->node, &scatter));
    int axis = scatter.axis;
    int64_t size = past->dim[axis], count = update->dim[axis],
            outer = tsr_dim_product(past, 1, axis), place = 0;
    size_t block =
        (size_t)tsr_dim_product(past, axis + 1, past->rank) * tsr_call_element_size(call);
    const char *from = tsr_call_in(call, 1);
    memcpy(tsr_call_out(call, 0), tsr_call_in(call, 0),
           tsr_cpu_bytes(tsr_node_out(call->graph, call->node, 0)));
    for (int64_t line = 0; line < past->dim[0] * outer; line++)
        for (int64_t i = 0; i < count; i++, from += block) {
            TSR_TRY(find_place(&scatter, starts ? starts[line / outer] : 0, i, size, &place));
            memcpy((char *)tsr_call_out(call, 0) + (size_t)(line * size + place) * block, from,
                   block);
        }
    return TSR_OK;
}

/* ---- TopK ---- */

typedef struct ranked {
    double value; /* of least: negated; integers beyond 2^53 are compared by `exact` */
    int64_t exact, index;
} ranked;

/* Larger values first, NaN before all, of equal ones the first. */
static int by_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? -1 : 1;
    if (x->value != y->value && !isnan(x->value))
        return x->value > y->value ? -1 : 1;
    if (x->exact != y->exact)
        return x->exact > y->exact ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* count elements with a stride of step: the first k by rank. */
static void choose(const tsr_cpu_call *call, ranked *list, int64_t first, int64_t count,
                   int64_t step) {
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    bool is_float = tsr_dtype_is_float(dtype),
         largest = tsr_attr_int(call->node, "largest", 1) != 0;
    const float *floats = tsr_call_in(call, 0);
    const int64_t *ints = tsr_call_in(call, 0);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + i * step, exact = is_float ? 0 : tsr_dtype_order(dtype, ints[at]);
        double value = is_float ? floats[at] : (double)exact;
        list[i] = (ranked){largest ? value : -value, largest ? exact : ~exact, i};
    }
    qsort(list, (size_t)count, sizeof *list, by_rank);
}

tsr_status tsr_cpu_top_k(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    size_t size = tsr_call_element_size(call);
    const char *in = tsr_call_in(call, 0);
    char *values = tsr_call_out(call, 0);
    int64_t *indices = tsr_call_out(call, 1);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", -1), shape->rank, &axis));
    int64_t count = shape->dim[axis], inner = tsr_dim_product(shape, axis + 1, shape->rank),
            outer = tsr_dim_product(shape, 0, axis), k = *(const int64_t *)tsr_call_in(call, 1);
    ranked *list = tsr_cpu_scratch(count, sizeof *list);
    if (!list)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int64_t o = 0; o < outer * inner; o++) {
        int64_t first = o / inner * count * inner + o % inner,
                to = o / inner * k * inner + o % inner;
        choose(call, list, first, count, inner);
        for (int64_t i = 0; i < k; i++) {
            int64_t from = first + list[i].index * inner;
            if (values)
                memcpy(values + (size_t)(to + i * inner) * size, in + (size_t)from * size, size);
            if (indices)
                indices[to + i * inner] = list[i].index;
        }
    }
    tsr_free(list);
    return TSR_OK;
}
