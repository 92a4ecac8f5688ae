/* Rules of the operators that cut out or add elements along axes: Slice, Pad, Concat, Split,
 * Gather. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* Axes of an optional input; without it the first count ones. */
static tsr_status read_axes_input(const tsr_graph *graph, const tsr_node *node, int input,
                                  int64_t count, int axes[TSR_MAX_RANK]) {
    int rank = tsr_node_in(graph, node, 0)->shape.rank;
    int64_t all[TSR_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t *given = all;
    int64_t given_count = count;
    if (tsr_node_in(graph, node, input))
        TSR_TRY(tsr_node_const_ints(graph, node, input, &given, &given_count));
    if (given_count != count)
        return tsr_fail(TSR_INVALID_MODEL, "%" PRId64 " axes are given for %" PRId64 " entries",
                        given_count, count);
    return tsr_read_axes(given, count, rank, axes);
}

/* ---- Slice ---- */

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Numpy's rule: positions below zero count from the end, and all are clamped to the axis. */
static void slice_axis(tsr_slice *slice, int axis, int64_t size, int64_t start, int64_t end,
                       int64_t step) {
    step = clamp(step, -TSR_MAX_DIM, TSR_MAX_DIM); /* beyond any size: as good as the limit */
    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    if (step > 0) {
        start = clamp(start, 0, size);
        end = clamp(end, 0, size);
        slice->count[axis] = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
        start = clamp(start, 0, size - 1);
        end = clamp(end, -1, size - 1);
        slice->count[axis] = size > 0 && start > end ? (start - end - 1) / -step + 1 : 0;
    }
    slice->start[axis] = start;
    slice->step[axis] = step;
}

tsr_status tsr_node_slice(const tsr_graph *graph, const tsr_node *node, tsr_slice *slice) {
    const tsr_shape *shape = &tsr_node_in(graph, node, 0)->shape;
    const int64_t *starts, *ends, *steps = NULL;
    int64_t count, end_count, step_count;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &starts, &count));
    TSR_TRY(tsr_node_const_ints(graph, node, 2, &ends, &end_count));
    int axes[TSR_MAX_RANK];
    TSR_TRY(read_axes_input(graph, node, 3, count, axes));
    step_count = count;
    if (tsr_node_in(graph, node, 4))
        TSR_TRY(tsr_node_const_ints(graph, node, 4, &steps, &step_count));
    if (end_count != count || step_count != count)
        return tsr_fail(TSR_INVALID_MODEL, "starts, ends and steps differ in length");
    for (int axis = 0; axis < shape->rank; axis++)
        slice_axis(slice, axis, shape->dim[axis], 0, shape->dim[axis], 1);
    for (int i = 0; i < count; i++) {
        int64_t step = steps ? steps[i] : 1;
        if (step == 0)
            return tsr_fail(TSR_INVALID_MODEL, "steps[%d] is 0", i);
        slice_axis(slice, axes[i], shape->dim[axes[i]], starts[i], ends[i], step);
    }
    return TSR_OK;
}

tsr_status tsr_infer_slice(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    tsr_slice slice;
    TSR_TRY(tsr_node_slice(graph, node, &slice));
    tsr_shape shape = tsr_shape_make(x->shape.rank, slice.count);
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- Pad ---- */

tsr_status tsr_node_pads(const tsr_graph *graph, const tsr_node *node, int64_t begin[TSR_MAX_RANK],
                         int64_t end[TSR_MAX_RANK]) {
    const int64_t *pads;
    int64_t count;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &pads, &count));
    if (count % 2 != 0)
        return tsr_fail(TSR_INVALID_MODEL, "pads has %" PRId64 " elements", count);
    if (!tsr_node_in(graph, node, 3) && count / 2 != tsr_node_in(graph, node, 0)->shape.rank)
        return tsr_fail(TSR_INVALID_MODEL, "pads has %" PRId64 " elements for %d dimensions", count,
                        tsr_node_in(graph, node, 0)->shape.rank);
    int axes[TSR_MAX_RANK];
    TSR_TRY(read_axes_input(graph, node, 3, count / 2, axes));
    memset(begin, 0, TSR_MAX_RANK * sizeof *begin);
    memset(end, 0, TSR_MAX_RANK * sizeof *end);
    for (int i = 0; i < count; i++) {
        if (pads[i] < -TSR_MAX_DIM || pads[i] > TSR_MAX_DIM)
            return tsr_fail(TSR_INVALID_MODEL, "pads[%d] is %" PRId64, i, pads[i]);
        int64_t *side = i < count / 2 ? begin : end;
        side[axes[i % (count / 2)]] = pads[i];
    }
    return TSR_OK;
}

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP, PAD_MODES };
static const char *const pad_modes[] = {"constant", "reflect", "edge", "wrap"};

/* What an axis keeps after its negative pads has to hold what its positive ones copy. */
static tsr_status check_pad(int mode, int axis, int64_t size, int64_t begin, int64_t end) {
    int64_t kept = size + (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
    int64_t most = begin > end ? begin : end;
    if (kept < 0)
        return tsr_fail(TSR_SHAPE, "more than all of axis %d is taken away", axis);
    if (most > 0 && ((mode == PAD_EDGE && kept == 0) || (mode == PAD_REFLECT && most >= kept)))
        return tsr_fail(TSR_SHAPE,
                        "axis %d of size %" PRId64 " is too small to add %" PRId64 " by %s", axis,
                        kept, most, pad_modes[mode]);
    return TSR_OK;
}

tsr_status tsr_infer_pad(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *fill = tsr_node_in(graph, node, 2);
    int mode;
    TSR_TRY(tsr_read_choice(node, "mode", pad_modes, PAD_MODES, &mode));
    if (mode == PAD_WRAP)
        return tsr_fail(TSR_UNSUPPORTED, "mode 'wrap' is not supported");
    TSR_TRY(tsr_require_scalar(fill));
    if (fill && fill->dtype != x->dtype)
        return tsr_fail(TSR_INVALID_MODEL, "constant_value is of type %s, the data of type %s",
                        tsr_dtype_name(fill->dtype), tsr_dtype_name(x->dtype));
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    TSR_TRY(tsr_node_pads(graph, node, begin, end));
    tsr_shape shape = x->shape;
    for (int axis = 0; axis < shape.rank; axis++) {
        TSR_TRY(check_pad(mode, axis, shape.dim[axis], begin[axis], end[axis]));
        shape.dim[axis] += begin[axis] + end[axis];
    }
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- Concat, Split, Gather ---- */

tsr_status tsr_infer_concat(tsr_graph *graph, tsr_node *node) {
    const tsr_value *first = tsr_node_in(graph, node, 0);
    const tsr_attr *attr = tsr_node_attr(node, "axis");
    if (!attr || attr->kind != TSR_ATTR_INT)
        return tsr_fail(TSR_INVALID_MODEL, "it has no axis");
    int axis;
    TSR_TRY(tsr_normalize_axis(attr->i, first->shape.rank, &axis));
    TSR_TRY(tsr_require_same_type(graph, node, node->input_count));
    tsr_shape shape = first->shape;
    for (int i = 1; i < node->input_count; i++) {
        tsr_shape next = tsr_node_in(graph, node, i)->shape;
        int64_t size = next.rank == shape.rank ? next.dim[axis] : 0;
        next.dim[axis] = shape.dim[axis];
        if (!tsr_shape_equal(&next, &shape))
            return tsr_fail(TSR_SHAPE, "input %d differs from input 0 off axis %d", i, axis);
        shape.dim[axis] += size; /* below 2^31 each, and input_count is an int: no overflow */
    }
    return tsr_set_output(graph, node, 0, first->dtype, &shape);
}

/* Sizes given by the input "split". */
static tsr_status check_split_sizes(const int64_t *sizes, int64_t count, int outputs,
                                    int64_t size) {
    if (count != outputs)
        return tsr_fail(TSR_INVALID_MODEL, "split has %" PRId64 " elements for %d outputs", count,
                        outputs);
    int64_t rest = size;
    for (int i = 0; i < outputs; i++) {
        if (sizes[i] < 0)
            return tsr_fail(TSR_INVALID_MODEL, "split[%d] is %" PRId64, i, sizes[i]);
        if (sizes[i] > rest)
            return tsr_fail(TSR_SHAPE, "the parts add up to more than %" PRId64, size);
        rest -= sizes[i];
    }
    return rest == 0 ? TSR_OK : tsr_fail(TSR_SHAPE, "the parts add up to less than %" PRId64, size);
}

/* The size of all parts but the last, which may be smaller where num_outputs is given. */
static tsr_status equal_part(const tsr_node *node, int64_t size, int64_t *part) {
    int outputs = node->output_count;
    bool uneven = tsr_node_attr(node, "num_outputs") != NULL;
    if (tsr_attr_int(node, "num_outputs", outputs) != outputs)
        return tsr_fail(TSR_INVALID_MODEL, "num_outputs differs from the %d outputs", outputs);
    *part = (size + outputs - 1) / outputs;
    if (uneven ? *part * (outputs - 1) > size : size % outputs != 0)
        return tsr_fail(TSR_SHAPE, "%" PRId64 " cannot be split into %d parts", size, outputs);
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
            return tsr_fail(TSR_INVALID_MODEL, "both split and num_outputs are given");
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

static tsr_status check_indices(const tsr_value *indices, int64_t size) {
    const int64_t *data = indices->data;
    int64_t count = data ? tsr_shape_count(&indices->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        if (data[i] < -size || data[i] >= size)
            return tsr_fail(TSR_INVALID_MODEL,
                            "index %" PRId64 " is out of an axis of size %" PRId64, data[i], size);
    return TSR_OK;
}

/* The gathered axis is replaced by the axes of the indices. */
tsr_status tsr_infer_gather(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *indices = tsr_node_in(graph, node, 1);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), x->shape.rank, &axis));
    if (indices->dtype != TSR_I64 && indices->dtype != TSR_I32)
        return tsr_fail(TSR_INVALID_MODEL, "indices are of type %s",
                        tsr_dtype_name(indices->dtype));
    int rank = x->shape.rank - 1 + indices->shape.rank;
    if (rank > TSR_MAX_RANK)
        return tsr_fail(TSR_UNSUPPORTED, "a result of %d dimensions is not supported", rank);
    TSR_TRY(check_indices(indices, x->shape.dim[axis]));
    tsr_shape shape = {.rank = 0};
    for (int i = 0; i < x->shape.rank; i++) {
        if (i != axis)
            shape.dim[shape.rank++] = x->shape.dim[i];
        for (int j = 0; i == axis && j < indices->shape.rank; j++)
            shape.dim[shape.rank++] = indices->shape.dim[j];
    }
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}
