/* Shape rules of gathering and scattering by index, TopK, CumSum, Expand, Trilu. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

static tsr_status require_indices(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *indices = tsr_node_in(graph, node, 1);
    if (indices->dtype == TSR_DTYPE_I32 || indices->dtype == TSR_DTYPE_I64)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "indices of type %s", tsr_dtype_name(indices->dtype));
}

/* Along the axis; every other one of the indices is no longer than the data's. */
static tsr_status check_elements(const tsr_graph *graph, const tsr_node *node, int *axis) {
    const tsr_shape *data = &tsr_node_in(graph, node, 0)->shape,
                    *indices = &tsr_node_in(graph, node, 1)->shape;
    TSR_TRY(require_indices(graph, node));
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), data->rank, axis));
    bool fits = indices->rank == data->rank;
    for (int i = 0; fits && i < data->rank; i++)
        fits = i == *axis || indices->dim[i] <= data->dim[i];
    return fits ? TSR_OK
                : tsr_fail(TSR_ERROR_SHAPE, "indices of shape %s along axis %d of %s",
                           tsr_shape_text(indices), *axis, tsr_shape_text(data));
}

tsr_status tsr_infer_gather_elements(tsr_graph *graph, tsr_node *node) {
    int axis;
    TSR_TRY(check_elements(graph, node, &axis));
    return tsr_set_output(graph, node, 0, tsr_node_in(graph, node, 0)->dtype,
                          &tsr_node_in(graph, node, 1)->shape);
}

static tsr_status check_updates(const tsr_graph *graph, const tsr_node *node,
                                const tsr_shape *shape) {
    const tsr_value *data = tsr_node_in(graph, node, 0), *updates = tsr_node_in(graph, node, 2);
    tsr_scatter_reduction reduction;
    TSR_TRY(tsr_node_scatter_reduction(node, &reduction));
    if (updates->dtype != data->dtype)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "updates of type %s for data of type %s",
                        tsr_dtype_name(updates->dtype), tsr_dtype_name(data->dtype));
    if (!tsr_shape_equal(&updates->shape, shape))
        return tsr_fail(TSR_ERROR_SHAPE, "updates of shape %s instead of %s",
                        tsr_shape_text(&updates->shape), tsr_shape_text(shape));
    return TSR_OK;
}

tsr_status tsr_node_scatter_reduction(const tsr_node *node, tsr_scatter_reduction *reduction) {
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    int choice = 0;
    TSR_TRY(tsr_read_choice(node, "reduction", names, 5, &choice));
    *reduction = (tsr_scatter_reduction)choice;
    return TSR_OK;
}

tsr_status tsr_infer_scatter_elements(tsr_graph *graph, tsr_node *node) {
    int axis;
    TSR_TRY(check_elements(graph, node, &axis));
    TSR_TRY(check_updates(graph, node, &tsr_node_in(graph, node, 1)->shape));
    return tsr_infer_same(graph, node);
}

/* The shape of what tuples of indices, after batch_dims common axes, choose. */
static tsr_status find_chosen(const tsr_graph *graph, const tsr_node *node, int64_t batch_dims,
                              tsr_shape *chosen) {
    const tsr_shape *data = &tsr_node_in(graph, node, 0)->shape,
                    *indices = &tsr_node_in(graph, node, 1)->shape;
    TSR_TRY(require_indices(graph, node));
    int rank = indices->rank;
    int64_t length = rank > 0 ? indices->dim[rank - 1] : 0;
    bool fits = rank > 0 && batch_dims >= 0 && batch_dims < rank && batch_dims < data->rank &&
                length <= data->rank - batch_dims && length >= 0;
    for (int i = 0; fits && i < batch_dims; i++)
        fits = indices->dim[i] == data->dim[i];
    if (!fits)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "indices of shape %s into %s, with %" PRId64 " common axes",
                        tsr_shape_text(indices), tsr_shape_text(data), batch_dims);
    int first = (int)(batch_dims + length);
    if (rank - 1 + data->rank - first > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a result of more than %d axes", TSR_MAX_RANK);
    *chosen = (tsr_shape){.rank = rank - 1 + data->rank - first};
    for (int i = 0; i < chosen->rank; i++)
        chosen->dim[i] = i < rank - 1 ? indices->dim[i] : data->dim[first + i - (rank - 1)];
    return TSR_OK;
}

tsr_status tsr_infer_gather_nd(tsr_graph *graph, tsr_node *node) {
    tsr_shape shape;
    TSR_TRY(find_chosen(graph, node, tsr_attr_int(node, "batch_dims", 0), &shape));
    return tsr_set_output(graph, node, 0, tsr_node_in(graph, node, 0)->dtype, &shape);
}

tsr_status tsr_infer_scatter_nd(tsr_graph *graph, tsr_node *node) {
    tsr_shape shape;
    TSR_TRY(find_chosen(graph, node, 0, &shape));
    TSR_TRY(check_updates(graph, node, &shape));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_node_tensor_scatter(const tsr_graph *graph, const tsr_node *node,
                                   tsr_tensor_scatter *scatter) {
    static const char *const modes[] = {"linear", "circular"};
    int mode = 0;
    TSR_TRY(tsr_read_choice(node, "mode", modes, 2, &mode));
    scatter->circular = mode == 1;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -2),
                               tsr_node_in(graph, node, 0)->shape.rank, &scatter->axis));
    return scatter->axis > 0 ? TSR_OK
                             : tsr_fail(TSR_ERROR_INVALID_MODEL, "axis 0 is that of batches");
}

tsr_status tsr_infer_tensor_scatter(tsr_graph *graph, tsr_node *node) {
    const tsr_value *past = tsr_node_in(graph, node, 0), *update = tsr_node_in(graph, node, 1),
                    *starts = tsr_node_in(graph, node, 2);
    tsr_tensor_scatter scatter;
    TSR_TRY(tsr_node_tensor_scatter(graph, node, &scatter));
    if (update->dtype != past->dtype)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "updates of type %s for a cache of type %s",
                        tsr_dtype_name(update->dtype), tsr_dtype_name(past->dtype));
    tsr_shape wanted = past->shape;
    if (update->shape.rank == wanted.rank &&
        update->shape.dim[scatter.axis] <= wanted.dim[scatter.axis])
        wanted.dim[scatter.axis] = update->shape.dim[scatter.axis];
    if (!tsr_shape_equal(&wanted, &update->shape))
        return tsr_fail(TSR_ERROR_SHAPE, "updates of shape %s along axis %d of %s",
                        tsr_shape_text(&update->shape), scatter.axis, tsr_shape_text(&past->shape));
    if (starts && (starts->shape.rank != 1 || starts->shape.dim[0] != past->shape.dim[0] ||
                   (starts->dtype != TSR_DTYPE_I64 && starts->dtype != TSR_DTYPE_I32)))
        return tsr_fail(
            TSR_ERROR_SHAPE, "write_indices of type %s and shape %s for %" PRId64 " batches",
            tsr_dtype_name(starts->dtype), tsr_shape_text(&starts->shape), past->shape.dim[0]);
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_top_k(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    const int64_t *k;
    int64_t count;
    int axis;
    if (x->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "there is no order on bool");
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &k, &count));
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), x->shape.rank, &axis));
    if (count != 1 || *k < 0 || *k > x->shape.dim[axis])
        return tsr_fail(TSR_ERROR_SHAPE, "%" PRId64 " of the elements along axis %d of %s",
                        count == 1 ? *k : -1, axis, tsr_shape_text(&x->shape));
    tsr_shape shape = x->shape;
    shape.dim[axis] = *k;
    TSR_TRY(tsr_set_output(graph, node, 0, x->dtype, &shape));
    return tsr_set_output(graph, node, 1, TSR_DTYPE_I64, &shape);
}

tsr_status tsr_infer_cum_sum(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    int axis;
    if (tsr_dtype_size(dtype) < 4 && !tsr_dtype_is_float(dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is not defined for %s", tsr_dtype_name(dtype));
    TSR_TRY(tsr_node_cum_sum_axis(graph, node, &axis));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_node_cum_sum_axis(const tsr_graph *graph, const tsr_node *node, int *axis) {
    const int64_t *given;
    int64_t count;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &given, &count));
    if (count != 1)
        return tsr_fail(TSR_ERROR_SHAPE, "%" PRId64 " axes instead of one", count);
    return tsr_normalize_axis(*given, tsr_node_in(graph, node, 0)->shape.rank, axis);
}

tsr_status tsr_infer_expand(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    const int64_t *dims;
    int64_t rank;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &dims, &rank));
    if (rank > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "rank %" PRId64 " is above %d", rank, TSR_MAX_RANK);
    tsr_shape wanted = tsr_shape_make((int)rank, dims), shape;
    for (int i = 0; i < wanted.rank; i++)
        if (wanted.dim[i] < 0)
            return tsr_fail(TSR_ERROR_SHAPE, "dimension %d of the shape is %" PRId64, i,
                            wanted.dim[i]);
    TSR_TRY(tsr_broadcast(&x->shape, &wanted, &shape));
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_node_diagonal(const tsr_graph *graph, const tsr_node *node, int64_t *diagonal) {
    const int64_t *given;
    int64_t count = 1;
    *diagonal = 0;
    if (!tsr_node_in(graph, node, 1))
        return TSR_OK;
    TSR_TRY(tsr_node_const_ints(graph, node, 1, &given, &count));
    if (count != 1)
        return tsr_fail(TSR_ERROR_SHAPE, "k has %" PRId64 " elements", count);
    /* further ones are outside every matrix */
    *diagonal = *given < -TSR_MAX_DIM ? -TSR_MAX_DIM : *given > TSR_MAX_DIM ? TSR_MAX_DIM : *given;
    return TSR_OK;
}

tsr_status tsr_infer_trilu(tsr_graph *graph, tsr_node *node) {
    int64_t diagonal;
    TSR_TRY(tsr_require_rank(tsr_node_in(graph, node, 0), 2, TSR_MAX_RANK));
    TSR_TRY(tsr_node_diagonal(graph, node, &diagonal));
    return tsr_infer_same(graph, node);
}
