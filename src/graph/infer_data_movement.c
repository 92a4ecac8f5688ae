/* Shape rules of the operators that move elements: Slice, Pad, Gather, Transpose, DepthToSpace,
 * SpaceToDepth. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* Axes from an optional input; without it the first `count` axes. */
static tsr_status read_axes_input(const tsr_graph *graph, const tsr_node *node, int input,
                                  int64_t count, int axes[TSR_MAX_RANK]) {
    int rank = tsr_node_in(graph, node, 0)->shape.rank;
    int64_t all[TSR_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t *given = all;
    int64_t given_count = count;
    if (tsr_node_in(graph, node, input))
        TSR_TRY(tsr_node_const_ints(graph, node, input, &given, &given_count));
    if (given_count != count)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "%" PRId64 " axes are given for %" PRId64 " entries", given_count, count);
    return tsr_read_axes(given, count, rank, axes);
}

/* ---- Slice ---- */

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Numpy's rule: negative positions count from the end; all are clamped to the axis. */
static void slice_axis(tsr_slice *slice, int axis, int64_t size, int64_t start, int64_t end,
                       int64_t step) {
    step = clamp(step, -TSR_MAX_DIM, TSR_MAX_DIM); /* longer steps select the same elements */
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
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "starts, ends and steps differ in length");
    for (int axis = 0; axis < shape->rank; axis++)
        slice_axis(slice, axis, shape->dim[axis], 0, shape->dim[axis], 1);
    for (int i = 0; i < count; i++) {
        int64_t step = steps ? steps[i] : 1;
        if (step == 0)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "steps[%d] is 0", i);
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
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "pads has %" PRId64 " elements", count);
    if (!tsr_node_in(graph, node, 3) && count / 2 != tsr_node_in(graph, node, 0)->shape.rank)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "pads has %" PRId64 " elements for %d dimensions",
                        count, tsr_node_in(graph, node, 0)->shape.rank);
    int axes[TSR_MAX_RANK];
    TSR_TRY(read_axes_input(graph, node, 3, count / 2, axes));
    memset(begin, 0, TSR_MAX_RANK * sizeof *begin);
    memset(end, 0, TSR_MAX_RANK * sizeof *end);
    for (int i = 0; i < count; i++) {
        if (pads[i] < -TSR_MAX_DIM || pads[i] > TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "pads[%d] is %" PRId64, i, pads[i]);
        int64_t *side = i < count / 2 ? begin : end;
        side[axes[i % (count / 2)]] = pads[i];
    }
    return TSR_OK;
}

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP, PAD_MODES };
static const char *const pad_modes[] = {"constant", "reflect", "edge", "wrap"};

/* What remains of an axis after negative pads has to be large enough for what positive pads
 * copy. */
static tsr_status check_pad(int mode, int axis, int64_t size, int64_t begin, int64_t end) {
    int64_t kept = size + (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
    int64_t most = begin > end ? begin : end;
    if (kept < 0)
        return tsr_fail(TSR_ERROR_SHAPE, "the pads remove more than all of axis %d", axis);
    if (most > 0 && ((mode == PAD_EDGE && kept == 0) || (mode == PAD_REFLECT && most >= kept)))
        return tsr_fail(TSR_ERROR_SHAPE,
                        "axis %d of size %" PRId64 " is too small to add %" PRId64 " by %s", axis,
                        kept, most, pad_modes[mode]);
    return TSR_OK;
}

tsr_status tsr_infer_pad(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *fill = tsr_node_in(graph, node, 2);
    int mode;
    TSR_TRY(tsr_read_choice(node, "mode", pad_modes, PAD_MODES, &mode));
    if (mode == PAD_WRAP)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "mode 'wrap' is not supported");
    TSR_TRY(tsr_require_scalar(fill));
    if (fill && fill->dtype != x->dtype)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "constant_value is of type %s, the data of type %s",
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

/* ---- Gather ---- */

static tsr_status check_indices(const tsr_value *indices, int64_t size) {
    const int64_t *data = indices->data;
    int64_t count = data ? tsr_shape_count(&indices->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        if (data[i] < -size || data[i] >= size)
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "index %" PRId64 " is out of an axis of size %" PRId64, data[i], size);
    return TSR_OK;
}

/* The axes of the indices replace the gathered axis. */
tsr_status tsr_infer_gather(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *indices = tsr_node_in(graph, node, 1);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), x->shape.rank, &axis));
    if (indices->dtype != TSR_DTYPE_I64 && indices->dtype != TSR_DTYPE_I32)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "indices are of type %s",
                        tsr_dtype_name(indices->dtype));
    int rank = x->shape.rank - 1 + indices->shape.rank;
    if (rank > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a result of %d dimensions is not supported", rank);
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

/* ---- Transpose, DepthToSpace, SpaceToDepth ---- */

void tsr_node_perm(const tsr_node *node, int rank, int64_t perm[TSR_MAX_RANK]) {
    int count;
    const int64_t *given = tsr_attr_ints(node, "perm", &count);
    for (int i = 0; i < rank; i++)
        perm[i] = given ? given[i] : rank - 1 - i;
}

tsr_status tsr_infer_transpose(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int count, rank = x->shape.rank;
    bool valid = !tsr_attr_ints(node, "perm", &count) || count == rank;
    bool seen[TSR_MAX_RANK] = {false};
    int64_t perm[TSR_MAX_RANK];
    if (valid)
        tsr_node_perm(node, rank, perm);
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank && valid; i++) {
        valid = perm[i] >= 0 && perm[i] < rank && !seen[perm[i]];
        if (valid) {
            seen[perm[i]] = true;
            shape.dim[i] = x->shape.dim[perm[i]];
        }
    }
    if (!valid)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "perm is no permutation of %d axes", rank);
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

static tsr_status read_blocksize(const tsr_graph *graph, const tsr_node *node, int64_t *size) {
    TSR_TRY(tsr_require_rank(tsr_node_in(graph, node, 0), 4, 4));
    *size = tsr_attr_int(node, "blocksize", 0);
    if (*size < 1 || *size > TSR_MAX_DIM)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "blocksize is %" PRId64, *size);
    return TSR_OK;
}

bool tsr_depth_comes_first(const tsr_node *node) {
    return strcmp(tsr_attr_string(node, "mode", "DCR"), "CRD") != 0;
}

tsr_status tsr_infer_depth_to_space(tsr_graph *graph, tsr_node *node) {
    static const char *const modes[] = {"DCR", "CRD"};
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int64_t size = 1;
    int mode;
    TSR_TRY(read_blocksize(graph, node, &size));
    TSR_TRY(tsr_read_choice(node, "mode", modes, 2, &mode));
    const int64_t *dim = x->shape.dim;
    if (dim[1] % (size * size) != 0)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "%" PRId64 " channels do not fill blocks of %" PRId64 " by %" PRId64,
                        dim[1], size, size);
    tsr_shape shape = {.rank = 4,
                       .dim = {dim[0], dim[1] / (size * size), dim[2] * size, dim[3] * size}};
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_space_to_depth(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int64_t size = 1;
    TSR_TRY(read_blocksize(graph, node, &size));
    const int64_t *dim = x->shape.dim;
    if (dim[2] % size != 0 || dim[3] % size != 0)
        return tsr_fail(TSR_ERROR_SHAPE, "%s cannot be cut into blocks of %" PRId64 " by %" PRId64,
                        tsr_shape_text(&x->shape), size, size);
    if (dim[1] > TSR_MAX_DIM / size / size)
        return tsr_fail(TSR_ERROR_SHAPE, "there would be too many channels");
    tsr_shape shape = {.rank = 4,
                       .dim = {dim[0], dim[1] * size * size, dim[2] / size, dim[3] / size}};
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}
