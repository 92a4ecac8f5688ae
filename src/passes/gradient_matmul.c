/* Gradients of Gemm and MatMul: products with the other matrix, transposed. */
#include "passes/gradient_rules.h"

#include "graph/infer.h"

static int build_gemm(tsr_gradient_call *g, int a, bool transpose_a, int b, bool transpose_b,
                      float alpha) {
    const int inputs[] = {a, b};
    const tsr_attr attrs[] = {tsr_int_attr("transA", transpose_a),
                              tsr_int_attr("transB", transpose_b),
                              {.name = "alpha", .kind = TSR_ATTR_FLOAT, .f = alpha}};
    return tsr_build_with(&g->b, TSR_OP_Gemm, 2, inputs, 3, attrs);
}

/* alpha * A B + beta * C, A and B being transposed or not */
void tsr_gradient_gemm(tsr_gradient_call *g) {
    const tsr_node *node = g->node;
    int a = node->inputs[0], b = node->inputs[1];
    bool trans_a = tsr_attr_int(node, "transA", 0) != 0,
         trans_b = tsr_attr_int(node, "transB", 0) != 0;
    float alpha = tsr_attr_float(node, "alpha", 1);
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0,
                      trans_a ? build_gemm(g, b, trans_b, g->dy, true, alpha)
                              : build_gemm(g, g->dy, false, b, !trans_b, alpha));
    if (tsr_grad_wants(g, 1))
        tsr_grad_give(g, 1,
                      trans_b ? build_gemm(g, g->dy, true, a, trans_a, alpha)
                              : build_gemm(g, a, !trans_a, g->dy, false, alpha));
    if (tsr_grad_wants(g, 2)) {
        const tsr_shape shape = tsr_grad_shape(g, node->inputs[2]);
        int sum = tsr_grad_sum_to(g, g->dy, &shape);
        tsr_grad_give(g, 2, tsr_grad_scale(g, sum, tsr_attr_float(node, "beta", 1)));
    }
}

/* ---- MatMul ---- */

/* [.., a, b] -> [.., b, a] */
static int transpose(tsr_gradient_call *g, int value) {
    int64_t perm[TSR_MAX_RANK];
    int rank = tsr_grad_shape(g, value).rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return tsr_grad_transpose(g, value, perm);
}

static void give_reshaped(tsr_gradient_call *g, int i, int value) {
    const tsr_shape shape = tsr_grad_shape(g, g->node->inputs[i]);
    tsr_grad_give(g, i, tsr_grad_reshape(g, value, &shape));
}

/* B is one matrix [inner, columns]: all rows of A are those of one matrix, too. */
static void give_of_one_matrix(tsr_gradient_call *g, int64_t inner, int64_t columns) {
    const tsr_shape a = tsr_grad_shape(g, g->x);
    const tsr_shape rows = {2, {tsr_dim_product(&a, 0, a.rank - 1), inner}},
                    results = {2, {rows.dim[0], columns}}, weights = {2, {inner, columns}};
    int dy = tsr_grad_reshape(g, g->dy, &results);
    if (tsr_grad_wants(g, 0)) {
        int b = tsr_grad_reshape(g, g->node->inputs[1], &weights);
        give_reshaped(g, 0, build_gemm(g, dy, false, b, true, 1));
    }
    if (tsr_grad_wants(g, 1))
        give_reshaped(g, 1, build_gemm(g, tsr_grad_reshape(g, g->x, &rows), true, dy, false, 1));
}

/* Batches [.., rows, inner] times [.., inner, columns]; a vector A is one row. */
static void give_of_batches(tsr_gradient_call *g) {
    const tsr_shape b = tsr_grad_shape(g, g->node->inputs[1]);
    tsr_shape a = tsr_grad_shape(g, g->x), results = tsr_grad_shape(g, g->dy);
    if (a.rank == 1) {
        a = (tsr_shape){2, {1, a.dim[0]}};
        results.dim[results.rank++] = b.dim[b.rank - 1];
        results.dim[results.rank - 2] = 1;
    }
    int dy = tsr_grad_reshape(g, g->dy, &results);
    if (tsr_grad_wants(g, 0)) {
        int product = TSR_GRAD(g, MatMul, dy, transpose(g, g->node->inputs[1]));
        give_reshaped(g, 0, tsr_grad_sum_to(g, product, &a));
    }
    if (tsr_grad_wants(g, 1)) {
        int rows = tsr_grad_reshape(g, g->x, &a);
        int product = TSR_GRAD(g, MatMul, transpose(g, rows), dy);
        tsr_grad_give(g, 1, tsr_grad_sum_to(g, product, &b));
    }
}

void tsr_gradient_matmul(tsr_gradient_call *g) {
    const tsr_shape b = tsr_grad_shape(g, g->node->inputs[1]);
    if (b.rank > 2)
        give_of_batches(g);
    else
        give_of_one_matrix(g, b.dim[0], b.rank == 2 ? b.dim[1] : 1);
}
