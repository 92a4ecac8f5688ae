/* Slice, Pad, Gather, Transpose, DepthToSpace, SpaceToDepth, Expand and Trilu, for elements of any
 * type; CumSum. */
#include "cpu/call.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* ---- blocks: Gather ---- */

tsr_status tsr_cpu_gather(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", 0), shape->rank, &axis));
    int64_t outer = tsr_dim_product(shape, 0, axis), limit = shape->dim[axis];
    size_t block =
        (size_t)tsr_dim_product(shape, axis + 1, shape->rank) * tsr_call_element_size(call);
    const int64_t *indices = tsr_call_in(call, 1);
    int64_t count = tsr_shape_count(tsr_call_in_shape(call, 1));
    const char *in = tsr_call_in(call, 0);
    char *out = tsr_call_out(call, 0);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < count; i++) {
            if (indices[i] < -limit || indices[i] >= limit)
                return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                "index %" PRId64 " is outside axis %d of shape %s", indices[i],
                                axis, tsr_shape_text(shape));
            int64_t index = indices[i] < 0 ? indices[i] + limit : indices[i];
            memcpy(out, in + (size_t)(o * limit + index) * block, block);
            out += block;
        }
    }
    return TSR_OK;
}

/* ---- permutations: Transpose, DepthToSpace, SpaceToDepth ---- */

/* Reshapes the input to the given shape and transposes it: axis perm[i] becomes axis i. */
static tsr_status permute(const tsr_cpu_call *call, const tsr_shape *shape, const int64_t *perm) {
    int64_t stride[TSR_MAX_RANK];
    tsr_cpu_strides(shape, stride);
    tsr_shape out = {.rank = shape->rank};
    for (int i = 0; i < out.rank; i++)
        out.dim[i] = shape->dim[perm[i]];
    tsr_remap remap;
    TSR_TRY(tsr_remap_create(&remap, &out));
    for (int axis = 0; axis < out.rank; axis++)
        for (int64_t i = 0; i < out.dim[axis]; i++)
            remap.offset[axis][i] = i * stride[perm[axis]];
    tsr_remap_run(&remap, call, NULL);
    return TSR_OK;
}

tsr_status tsr_cpu_transpose(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t perm[TSR_MAX_RANK];
    tsr_node_perm(call->node, shape->rank, perm);
    return permute(call, shape, perm);
}

tsr_status tsr_cpu_depth_to_space(const tsr_cpu_call *call) {
    const int64_t *dim = tsr_call_in_shape(call, 0)->dim;
    int64_t block = tsr_attr_int(call->node, "blocksize", 1), depth = dim[1] / (block * block);
    if (!tsr_depth_comes_first(call->node))
        return permute(call, &(tsr_shape){6, {dim[0], depth, block, block, dim[2], dim[3]}},
                       (int64_t[]){0, 1, 4, 2, 5, 3});
    return permute(call, &(tsr_shape){6, {dim[0], block, block, depth, dim[2], dim[3]}},
                   (int64_t[]){0, 3, 4, 1, 5, 2});
}

tsr_status tsr_cpu_space_to_depth(const tsr_cpu_call *call) {
    const int64_t *dim = tsr_call_in_shape(call, 0)->dim;
    int64_t block = tsr_attr_int(call->node, "blocksize", 1);
    tsr_shape shape = {6, {dim[0], dim[1], dim[2] / block, block, dim[3] / block, block}};
    return permute(call, &shape, (int64_t[]){0, 3, 5, 1, 2, 4});
}

/* ---- index tables for each axis: Slice, Pad ---- */

tsr_status tsr_cpu_slice(const tsr_cpu_call *call) {
    tsr_slice slice;
    TSR_TRY(tsr_node_slice(call->graph, call->node, &slice));
    int64_t stride[TSR_MAX_RANK];
    tsr_cpu_strides(tsr_call_in_shape(call, 0), stride);
    tsr_remap remap;
    TSR_TRY(tsr_remap_create(&remap, tsr_call_out_shape(call, 0)));
    for (int axis = 0; axis < remap.rank; axis++)
        for (int64_t i = 0; i < remap.count[axis]; i++)
            remap.offset[axis][i] = (slice.start[axis] + i * slice.step[axis]) * stride[axis];
    tsr_remap_run(&remap, call, NULL);
    return TSR_OK;
}

/* The element that position i of a padded axis of `length` elements reads, i being negative
 * before it and >= length after it; -1 for the fill. */
static int64_t pad_source(const char *mode, int64_t i, int64_t length) {
    if (i >= 0 && i < length)
        return i;
    if (length <= 0 || strcmp(mode, "constant") == 0)
        return -1;
    if (strcmp(mode, "edge") == 0)
        return i < 0 ? 0 : length - 1;
    return i < 0 ? -i : 2 * (length - 1) - i; /* reflect: at most length - 1 elements are added */
}

/* Negative pads crop before positive pads are added. */
tsr_status tsr_cpu_pad(const tsr_cpu_call *call) {
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK], stride[TSR_MAX_RANK];
    TSR_TRY(tsr_node_pads(call->graph, call->node, begin, end));
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    const char *mode = tsr_attr_string(call->node, "mode", "constant");
    tsr_cpu_strides(shape, stride);
    tsr_remap remap;
    TSR_TRY(tsr_remap_create(&remap, tsr_call_out_shape(call, 0)));
    for (int axis = 0; axis < remap.rank; axis++) {
        int64_t cut = begin[axis] < 0 ? -begin[axis] : 0, added = begin[axis] + cut;
        int64_t kept = shape->dim[axis] - cut + (end[axis] < 0 ? end[axis] : 0);
        for (int64_t i = 0; i < remap.count[axis]; i++) {
            int64_t source = pad_source(mode, i - added, kept);
            remap.offset[axis][i] = source < 0 ? -1 : (source + cut) * stride[axis];
        }
    }
    const void *fill = tsr_call_in(call, 2);
    tsr_remap_run(&remap, call, fill ? fill : &(int64_t){0});
    return TSR_OK;
}

/* ---- Expand, Trilu, CumSum ---- */

tsr_status tsr_cpu_expand(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_out_shape(call, 0), *in = tsr_call_in_shape(call, 0);
    size_t size = tsr_call_element_size(call);
    const char *from = tsr_call_in(call, 0);
    char *out = tsr_call_out(call, 0);
    int64_t count = tsr_shape_count(shape);
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, shape, in, in);
    for (int64_t i = 0; i < count; i++, out += size) {
        memcpy(out, from + (size_t)it.offset[0] * size, size);
        tsr_broadcast_next(&it);
    }
    return TSR_OK;
}

tsr_status tsr_cpu_trilu(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    size_t size = tsr_call_element_size(call);
    const char *in = tsr_call_in(call, 0);
    char *out = tsr_call_out(call, 0);
    bool upper = tsr_attr_int(call->node, "upper", 1) != 0;
    int64_t rows = shape->dim[shape->rank - 2], columns = shape->dim[shape->rank - 1], diagonal;
    TSR_TRY(tsr_node_diagonal(call->graph, call->node, &diagonal));
    for (int64_t i = 0; i < tsr_shape_count(shape); i++, in += size, out += size) {
        int64_t right = i % columns - i / columns % rows - diagonal; /* of the diagonal */
        if (upper ? right >= 0 : right <= 0)
            memcpy(out, in, size);
        else
            memset(out, 0, size);
    }
    return TSR_OK;
}

/* Sums in double; products in float, which overflows where a GPU does. */
static double accumulate(bool multiplies, double so_far, float x) {
    return multiplies ? (float)so_far * x : so_far + x;
}

/* Of i elements, or of one more: the sum or the product. */
static void add_up(const tsr_cpu_call *call, int64_t first, int64_t count, int64_t step) {
    bool is_float = tsr_dtype_is_float(tsr_node_in(call->graph, call->node, 0)->dtype),
         exclusive = tsr_attr_int(call->node, "exclusive", 0) != 0,
         reverse = tsr_attr_int(call->node, "reverse", 0) != 0,
         multiplies = call->node->op == TSR_OP_CumProd;
    tsr_dtype dtype = tsr_node_out(call->graph, call->node, 0)->dtype;
    const float *floats = tsr_call_in(call, 0);
    const int64_t *ints = tsr_call_in(call, 0);
    double sum = multiplies;
    uint64_t int_sum = multiplies;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + (reverse ? count - 1 - i : i) * step;
        double before = sum;
        uint64_t int_before = int_sum;
        if (is_float)
            sum = accumulate(multiplies, sum, floats[at]);
        else
            int_sum = multiplies ? int_sum * (uint64_t)ints[at] : int_sum + (uint64_t)ints[at];
        if (is_float)
            ((float *)tsr_call_out(call, 0))[at] = (float)(exclusive ? before : sum);
        else
            ((int64_t *)tsr_call_out(call, 0))[at] =
                tsr_dtype_wrap(dtype, (int64_t)(exclusive ? int_before : int_sum));
    }
}

tsr_status tsr_cpu_cum_sum(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int axis;
    TSR_TRY(tsr_node_cum_sum_axis(call->graph, call->node, &axis));
    int64_t count = shape->dim[axis], inner = tsr_dim_product(shape, axis + 1, shape->rank),
            outer = tsr_dim_product(shape, 0, axis);
    for (int64_t o = 0; o < outer * inner; o++)
        add_up(call, o / inner * count * inner + o % inner, count, inner);
    return TSR_OK;
}
