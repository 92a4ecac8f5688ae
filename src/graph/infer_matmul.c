/* Shape rules and costs of the matrix products. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>

static tsr_status require_equal(int64_t columns, int64_t rows) {
    if (columns != rows)
        return tsr_fail(TSR_ERROR_SHAPE, "%" PRId64 " columns do not match %" PRId64 " rows",
                        columns, rows);
    return TSR_OK;
}

tsr_status tsr_infer_gemm(tsr_graph *graph, tsr_node *node) {
    const tsr_value *a = tsr_node_in(graph, node, 0), *b = tsr_node_in(graph, node, 1);
    const tsr_value *c = tsr_node_in(graph, node, 2);
    TSR_TRY(tsr_require_float(graph, node, 3));
    TSR_TRY(tsr_require_rank(a, 2, 2));
    TSR_TRY(tsr_require_rank(b, 2, 2));
    int trans_a = tsr_attr_int(node, "transA", 0) != 0;
    int trans_b = tsr_attr_int(node, "transB", 0) != 0;
    TSR_TRY(require_equal(a->shape.dim[1 - trans_a], b->shape.dim[trans_b]));
    tsr_shape shape = {.rank = 2, .dim = {a->shape.dim[trans_a], b->shape.dim[1 - trans_b]}};
    if (c) {
        tsr_shape sum;
        TSR_TRY(tsr_broadcast(&shape, &c->shape, &sum));
        if (!tsr_shape_equal(&sum, &shape))
            return tsr_fail(TSR_ERROR_SHAPE, "C of shape %s cannot be broadcast to %s",
                            tsr_shape_text(&c->shape), tsr_shape_text(&shape));
    }
    return tsr_set_output(graph, node, 0, a->dtype, &shape);
}

tsr_shape tsr_batch_shape(const tsr_shape *shape) {
    return tsr_shape_make(shape->rank > 2 ? shape->rank - 2 : 0, shape->dim);
}

/* As numpy's matmul: a vector on the left is a row, on the right a column, and the axis that
 * this adds is removed from the result. */
tsr_status tsr_infer_matmul(tsr_graph *graph, tsr_node *node) {
    const tsr_value *left = tsr_node_in(graph, node, 0), *right = tsr_node_in(graph, node, 1);
    const tsr_shape *a = &left->shape, *b = &right->shape;
    TSR_TRY(tsr_require_float(graph, node, 2));
    TSR_TRY(tsr_require_rank(left, 1, TSR_MAX_RANK));
    TSR_TRY(tsr_require_rank(right, 1, TSR_MAX_RANK));
    TSR_TRY(require_equal(a->dim[a->rank - 1], b->dim[b->rank == 1 ? 0 : b->rank - 2]));
    tsr_shape a_batch = tsr_batch_shape(a), b_batch = tsr_batch_shape(b), shape;
    TSR_TRY(tsr_broadcast(&a_batch, &b_batch, &shape));
    if (a->rank > 1)
        shape.dim[shape.rank++] = a->dim[a->rank - 2];
    if (b->rank > 1)
        shape.dim[shape.rank++] = b->dim[b->rank - 1];
    return tsr_set_output(graph, node, 0, tsr_sum_type(node, left->dtype), &shape);
}

/* ---- multiply-adds: each element of the result sums over the columns of the left matrix ---- */

int64_t tsr_macs_gemm(const tsr_graph *graph, const tsr_node *node) {
    const tsr_shape *a = &tsr_node_in(graph, node, 0)->shape;
    int axis = tsr_attr_int(node, "transA", 0) ? 0 : 1;
    return a->rank == 2 ? tsr_count_macs(tsr_node_out(graph, node, 0), a->dim[axis]) : 0;
}

int64_t tsr_macs_matmul(const tsr_graph *graph, const tsr_node *node) {
    const tsr_shape *a = &tsr_node_in(graph, node, 0)->shape;
    return a->rank > 0 ? tsr_count_macs(tsr_node_out(graph, node, 0), a->dim[a->rank - 1]) : 0;
}
