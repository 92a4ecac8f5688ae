/* Rules of the operators that arrange the same elements anew, and of Shape. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* ---- Reshape ---- */

/* dims[i]: 0 keeps the input's dimension i unless allowzero, -1 takes what is left: *open is its
 * axis. */
static tsr_status read_target(const tsr_node *node, const tsr_shape *in, const int64_t *dims,
                              tsr_shape *shape, int *open) {
    bool allowzero = tsr_attr_int(node, "allowzero", 0) != 0, zero = false;
    *open = TSR_NONE;
    for (int i = 0; i < shape->rank; i++) {
        if (dims[i] < -1 || dims[i] > TSR_MAX_DIM || (dims[i] == -1 && *open != TSR_NONE) ||
            (dims[i] == 0 && !allowzero && i >= in->rank))
            return tsr_fail(TSR_INVALID_MODEL, "dimension %d of the new shape is %" PRId64, i,
                            dims[i]);
        shape->dim[i] = dims[i] == 0 && !allowzero ? in->dim[i] : dims[i];
        zero |= dims[i] == 0;
        if (dims[i] == -1) {
            *open = i;
            shape->dim[i] = 1;
        }
    }
    if (allowzero && zero && *open != TSR_NONE)
        return tsr_fail(TSR_INVALID_MODEL, "the new shape has both 0 and -1");
    return TSR_OK;
}

tsr_status tsr_infer_reshape(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    const int64_t *dims;
    int64_t rank;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &dims, &rank));
    if (rank > TSR_MAX_RANK)
        return tsr_fail(TSR_UNSUPPORTED, "a result of %" PRId64 " dimensions is not supported",
                        rank);
    tsr_shape shape = {.rank = (int)rank};
    int open;
    TSR_TRY(read_target(node, &x->shape, dims, &shape, &open));
    int64_t count = tsr_shape_count(&x->shape), known = tsr_shape_count(&shape);
    if (open != TSR_NONE && known > 0) {
        shape.dim[open] = count / known;
        known = tsr_shape_count(&shape);
    } else if (open != TSR_NONE) {
        shape.dim[open] = -1; /* nothing follows from an empty tensor */
        known = -1;
    }
    if (known != count)
        return tsr_fail(TSR_SHAPE, "%s cannot become %s", tsr_shape_text(&x->shape),
                        tsr_shape_text(&shape));
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- Flatten, Squeeze, Unsqueeze ---- */

tsr_status tsr_infer_flatten(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int rank = x->shape.rank;
    int64_t axis = tsr_attr_int(node, "axis", 1);
    if (axis < -rank || axis > rank)
        return tsr_fail(TSR_INVALID_MODEL, "axis %" PRId64 " is out of range (%d to %d)", axis,
                        -rank, rank);
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
                return tsr_fail(TSR_SHAPE, "axis %d is not of size 1", axes[i]);
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
        return tsr_fail(TSR_UNSUPPORTED, "a result of %" PRId64 " dimensions is not supported",
                        count + x->shape.rank);
    tsr_shape shape = {.rank = x->shape.rank + (int)count};
    int axes[TSR_MAX_RANK];
    TSR_TRY(tsr_read_axes(given, count, shape.rank, axes));
    for (int i = 0; i < count; i++)
        shape.dim[axes[i]] = 1;
    for (int i = 0, next = 0; i < shape.rank; i++)
        if (shape.dim[i] == 0) /* not added */
            shape.dim[i] = x->shape.dim[next++];
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- Transpose, DepthToSpace, SpaceToDepth ---- */

tsr_status tsr_infer_transpose(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int count, rank = x->shape.rank;
    const int64_t *perm = tsr_attr_ints(node, "perm", &count);
    int64_t reversed[TSR_MAX_RANK];
    for (int i = 0; i < rank; i++)
        reversed[i] = rank - 1 - i;
    if (!perm) {
        perm = reversed;
        count = rank;
    }
    bool valid = count == rank, seen[TSR_MAX_RANK] = {false};
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank && valid; i++) {
        valid = perm[i] >= 0 && perm[i] < rank && !seen[perm[i]];
        if (valid) {
            seen[perm[i]] = true;
            shape.dim[i] = x->shape.dim[perm[i]];
        }
    }
    if (!valid)
        return tsr_fail(TSR_INVALID_MODEL, "perm is no permutation of %d axes", rank);
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

static tsr_status read_blocksize(const tsr_graph *graph, const tsr_node *node, int64_t *size) {
    TSR_TRY(tsr_require_rank(tsr_node_in(graph, node, 0), 4, 4));
    *size = tsr_attr_int(node, "blocksize", 0);
    if (*size < 1 || *size > TSR_MAX_DIM)
        return tsr_fail(TSR_INVALID_MODEL, "blocksize is %" PRId64, *size);
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
        return tsr_fail(TSR_SHAPE,
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
        return tsr_fail(TSR_SHAPE, "%s cannot be cut into blocks of %" PRId64 " by %" PRId64,
                        tsr_shape_text(&x->shape), size, size);
    if (dim[1] > TSR_MAX_DIM / size / size)
        return tsr_fail(TSR_SHAPE, "there would be too many channels");
    tsr_shape shape = {.rank = 4,
                       .dim = {dim[0], dim[1] * size * size, dim[2] / size, dim[3] / size}};
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
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
    return tsr_set_output(graph, node, 0, TSR_I64, &shape);
}
