/* Shape rules of views, Dropout, Cast, and Shape. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>

/* ---- Reshape ---- */

/* dims[i]: 0 copies dimension i of the input unless allowzero, -1 is inferred: *open is its
 * axis. */
static tsr_status read_target(const tsr_node *node, const tsr_shape *in, const int64_t *dims,
                              tsr_shape *shape, int *open) {
    bool allowzero = tsr_attr_int(node, "allowzero", 0) != 0, zero = false;
    *open = TSR_NONE;
    for (int i = 0; i < shape->rank; i++) {
        if (dims[i] < -1 || dims[i] > TSR_MAX_DIM || (dims[i] == -1 && *open != TSR_NONE) ||
            (dims[i] == 0 && !allowzero && i >= in->rank))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "dimension %d of the new shape is %" PRId64, i,
                            dims[i]);
        shape->dim[i] = dims[i] == 0 && !allowzero ? in->dim[i] : dims[i];
        zero |= dims[i] == 0;
        if (dims[i] == -1) {
            *open = i;
            shape->dim[i] = 1;
        }
    }
    if (allowzero && zero && *open != TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the new shape has both 0 and -1");
    return TSR_OK;
}

tsr_status tsr_infer_reshape(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    const int64_t *dims;
    int64_t rank;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &dims, &rank));
    if (rank > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "a result of %" PRId64 " dimensions is not supported", rank);
    tsr_shape shape = {.rank = (int)rank};
    int open;
    TSR_TRY(read_target(node, &x->shape, dims, &shape, &open));
    int64_t count = tsr_shape_count(&x->shape), known = tsr_shape_count(&shape);
    if (open != TSR_NONE && known > 0) {
        shape.dim[open] = count / known;
        known = tsr_shape_count(&shape);
    } else if (open != TSR_NONE) {
        shape.dim[open] = -1; /* cannot be inferred from an empty tensor */
        known = -1;
    }
    if (known != count)
        return tsr_fail(TSR_ERROR_SHAPE, "%s cannot become %s", tsr_shape_text(&x->shape),
                        tsr_shape_text(&shape));
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- Flatten, Squeeze, Unsqueeze ---- */

tsr_status tsr_infer_flatten(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int rank = x->shape.rank;
    int64_t axis = tsr_attr_int(node, "axis", 1);
    if (axis < -rank || axis > rank)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "axis %" PRId64 " is out of range (%d to %d)",
                        axis, -rank, rank);
    int split = (int)(axis < 0 ? axis + rank : axis);
    tsr_shape front = tsr_shape_make(split, x->shape.dim);
    tsr_shape back = tsr_shape_make(rank - split, x->shape.dim + split);
    tsr_shape shape = {.rank = 2, .dim = {tsr_shape_count(&front), tsr_shape_count(&back)}};
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_squeeze(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    bool dropped[TSR_MAX_RANK];
    for (int i = 0; i < x->shape.rank; i++)
        dropped[i] = !tsr_node_in(graph, node, 1) && x->shape.dim[i] == 1;
    if (tsr_node_in(graph, node, 1)) {
        const int64_t *given;
        int64_t count;
        int axes[TSR_MAX_RANK];
        TSR_TRY(tsr_node_const_ints(graph, node, 1, &given, &count));
        TSR_TRY(tsr_read_axes(given, count, x->shape.rank, axes));
        for (int i = 0; i < count; i++) {
            if (x->shape.dim[axes[i]] != 1)
                return tsr_fail(TSR_ERROR_SHAPE, "axis %d is not of size 1", axes[i]);
            dropped[axes[i]] = true;
        }
    }
    tsr_shape shape = {.rank = 0};
    for (int i = 0; i < x->shape.rank; i++)
        if (!dropped[i])
            shape.dim[shape.rank++] = x->shape.dim[i];
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_unsqueeze(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    const int64_t *given;
    int64_t count;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &given, &count));
    if (count > TSR_MAX_RANK - x->shape.rank)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "a result of %" PRId64 " dimensions is not supported",
                        count + x->shape.rank);
    tsr_shape shape = {.rank = x->shape.rank + (int)count};
    int axes[TSR_MAX_RANK];
    TSR_TRY(tsr_read_axes(given, count, shape.rank, axes));
    for (int i = 0; i < count; i++)
        shape.dim[axes[i]] = 1;
    for (int i = 0, next = 0; i < shape.rank; i++)
        if (shape.dim[i] == 0) /* an axis of the input */
            shape.dim[i] = x->shape.dim[next++];
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- Identity, Dropout, Cast ---- */

tsr_status tsr_infer_identity(tsr_graph *graph, tsr_node *node) {
    return tsr_infer_same(graph, node);
}

/* Elements are dropped only in training mode with a ratio above 0. */
static tsr_status check_dropout_mode(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *ratio = tsr_node_in(graph, node, 1), *mode = tsr_node_in(graph, node, 2);
    TSR_TRY(tsr_require_scalar(ratio));
    TSR_TRY(tsr_require_scalar(mode));
    if (ratio && !tsr_dtype_is_float(ratio->dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the ratio is of type %s",
                        tsr_dtype_name(ratio->dtype));
    if (!mode)
        return TSR_OK;
    if (mode->dtype != TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "training_mode is of type %s",
                        tsr_dtype_name(mode->dtype));
    if (!mode->data)
        return tsr_fail_until_run("training_mode ('%s') is known only at run time", mode->name);
    bool keeps_all = ratio && ratio->data && *(const tsr_unaligned_float *)ratio->data == 0;
    if (*(const int64_t *)mode->data != 0 && !keeps_all)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "training mode is not supported");
    return TSR_OK;
}

tsr_status tsr_infer_dropout(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_float(graph, node, 1));
    TSR_TRY(check_dropout_mode(graph, node));
    TSR_TRY(tsr_set_output(graph, node, 1, TSR_DTYPE_BOOL, &tsr_node_in(graph, node, 0)->shape));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_cast(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = TSR_DTYPE_F32;
    int64_t number = tsr_attr_int(node, "to", 0);
    if (number <= 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute 'to' is missing or invalid");
    if (!tsr_dtype_from_onnx(number, &dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "ONNX's data type %" PRId64 " is not supported",
                        number);
    return tsr_set_output(graph, node, 0, dtype, &tsr_node_in(graph, node, 0)->shape);
}

tsr_status tsr_infer_bit_cast(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    TSR_TRY(tsr_infer_cast(graph, node));
    tsr_dtype to = tsr_node_out(graph, node, 0)->dtype;
    if (tsr_dtype_size(to) != tsr_dtype_size(x->dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the bits of %s as %s, which has not as many",
                        tsr_dtype_name(x->dtype), tsr_dtype_name(to));
    if (x->dtype != to && (x->dtype == TSR_DTYPE_F64 || to == TSR_DTYPE_F64))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "the bits of %s as %s: numbers of %s are held in 32 "
                        "bits",
                        tsr_dtype_name(x->dtype), tsr_dtype_name(to),
                        tsr_dtype_name(TSR_DTYPE_F64));
    return TSR_OK;
}

/* ---- Shape ---- */

static int64_t clamp_axis(int64_t axis, int rank) {
    axis += axis < 0 ? rank : 0;
    return axis < 0 ? 0 : axis > rank ? rank : axis;
}

tsr_status tsr_infer_shape(tsr_graph *graph, tsr_node *node) {
    int rank = tsr_node_in(graph, node, 0)->shape.rank;
    int64_t start = clamp_axis(tsr_attr_int(node, "start", 0), rank);
    int64_t end = clamp_axis(tsr_attr_int(node, "end", rank), rank);
    tsr_shape shape = {.rank = 1, .dim = {end > start ? end - start : 0}};
    return tsr_set_output(graph, node, 0, TSR_DTYPE_I64, &shape);
}
