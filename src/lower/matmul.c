/* Matrix products. */
#include "lower/lower.h"

#include "base/divide.h"
#include "base/error.h"

/* A matrix product with constant weights is a 1x1 convolution over N images of K channels. */
static tsr_convolution product(const tsr_value *weights, int64_t k, int64_t n, bool transposed,
                               float factor) {
    tsr_window window = {.spatial_rank = 2,
                         .in = {1, 1, 1},
                         .out = {1, 1, 1},
                         .kernel = {1, 1, 1},
                         .stride = {1, 1, 1},
                         .dilation = {1, 1, 1},
                         .group = 1};
    return (tsr_convolution){.window = window,
                             .weights = weights->data,
                             .constant = weights->model_constant,
                             .factor = factor,
                             .group_outputs = (int)n,
                             .group_inputs = (int)k,
                             .stride_output = transposed ? (size_t)k : 1,
                             .stride_input = transposed ? 1 : (size_t)n};
}

static int transposed_matrix(tsr_plan *plan, int source, const tsr_shape *shape) {
    tsr_shape flipped = {2, {shape->dim[1], shape->dim[0]}};
    int output = tsr_plan_tensor_new(plan, &flipped, false);
    tsr_lower_strided_copy(plan, source, output,
                           &(tsr_strided_copy){2, 2, {1, 0}, {1, 1}, {0, 0}, 0, 0});
    return output;
}

static int scalar(tsr_plan *plan, float value) {
    float *element = TSR_NEW(plan->arena, 1, float);
    if (!element) {
        tsr_plan_out_of_memory(plan);
        return 0;
    }
    *element = value;
    return tsr_plan_constant(plan, &(tsr_shape){2, {1, 1}}, element);
}

/* beta * C after the product; scaling C takes a pass of its own, so it is made before the
 * product's. */
static int gemm_summand(tsr_plan *plan, const tsr_node *node, float beta) {
    int c = tsr_plan_operand(plan, node->inputs[2], &tsr_node_out(plan->graph, node, 0)->shape);
    if (beta == 1.0f || plan->status != TSR_OK)
        return c;
    const tsr_layout *l = tsr_plan_layout(plan, c);
    int scaled = tsr_plan_tensor_new(plan, &(tsr_shape){2, {l->n, l->c}}, false),
        factor = scalar(plan, beta);
    tsr_pass_post_binary(plan, tsr_plan_copy(plan, c, scaled), TSR_OP_Mul, factor, false);
    return scaled;
}

/* Of two computed matrices; output: TSR_NONE: the node's. */
static tsr_pass *lower_product(tsr_plan *plan, const tsr_node *node, int left, int right, int rank,
                               int64_t inner, int output) {
    const tsr_problem problem = {.kind = TSR_MATMUL,
                                 .node = node,
                                 .input = left,
                                 .right = right,
                                 .rank = rank,
                                 .inner = inner,
                                 .output = output};
    return tsr_lower_problem(plan, &problem);
}

tsr_status tsr_lower_gemm(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *a = tsr_node_in(plan->graph, node, 0), *b = tsr_node_in(plan->graph, node, 1);
    bool transposed_a = tsr_attr_int(node, "transA", 0),
         transposed_b = tsr_attr_int(node, "transB", 0);
    float alpha = tsr_attr_float(node, "alpha", 1), beta = tsr_attr_float(node, "beta", 1);
    int64_t k = a->shape.dim[transposed_a ? 0 : 1], n = b->shape.dim[transposed_b ? 0 : 1];
    int summand =
        tsr_node_in(plan->graph, node, 2) && beta != 0 ? gemm_summand(plan, node, beta) : TSR_NONE;
    int left = tsr_plan_value(plan, node->inputs[0]);
    if (transposed_a)
        left = transposed_matrix(plan, left, &a->shape);
    tsr_pass *pass;
    if (b->data) {
        const tsr_problem problem = {.kind = TSR_CONV,
                                     .node = node,
                                     .conv = product(b, k, n, transposed_b, alpha),
                                     .input = left,
                                     .output = TSR_NONE};
        pass = tsr_lower_problem(plan, &problem);
    } else {
        int right = tsr_plan_value(plan, node->inputs[1]),
            factor = alpha == 1 ? TSR_NONE : scalar(plan, alpha);
        if (transposed_b)
            right = transposed_matrix(plan, right, &b->shape);
        pass = lower_product(plan, node, left, right, 2, k, TSR_NONE);
        if (factor != TSR_NONE)
            tsr_pass_post_binary(plan, pass, TSR_OP_Mul, factor, false);
    }
    if (summand != TSR_NONE)
        tsr_pass_post_binary(plan, pass, TSR_OP_Add, summand, false);
    return plan->status;
}

/* A vector operand of MatMul becomes a matrix of one row (left) or one column (right). */
static tsr_shape matrix_shape(const tsr_shape *shape, bool left) {
    if (shape->rank > 1)
        return *shape;
    return left ? (tsr_shape){2, {1, shape->dim[0]}} : (tsr_shape){2, {shape->dim[0], 1}};
}

/* All rows of the left side as images, when the right one is a constant matrix. */
static void lower_dense(tsr_plan *plan, const tsr_node *node, const tsr_shape *a,
                        const tsr_value *b, int64_t n) {
    int input = tsr_plan_value_with(plan, node->inputs[0],
                                    tsr_node_in(plan->graph, node, 0)->shape.rank - 1);
    if (plan->status != TSR_OK) /* such as that it has no elements: k would be 0 */
        return;
    int64_t k = a->dim[a->rank - 1], rows = tsr_shape_count(a) / k;
    tsr_convolution conv = product(b, k, n, false, 1);
    int left = tsr_plan_reshape(plan, input, &(tsr_shape){2, {rows, k}});
    int output = tsr_lower_output(plan, node, &(tsr_shape){2, {rows, n}});
    const tsr_problem problem = {
        .kind = TSR_CONV, .node = node, .conv = conv, .input = left, .output = output};
    tsr_lower_problem(plan, &problem);
    tsr_lower_finish(plan, node, output);
}

/* How the batches of a computed product are seen: axes that both sides have, and axes of one side
 * alone, are merged with their neighbours of the same kind. */
typedef struct batches {
    int count;
    int64_t left[TSR_MAX_RANK], right[TSR_MAX_RANK];
} batches;

static batches merge_batches(const tsr_shape *a, const tsr_shape *b) {
    batches m = {.count = 0};
    int before = -1;
    for (int i = 0; i < a->rank - 2; i++) {
        int kind = (a->dim[i] == 1 ? 1 : 0) + (b->dim[i] == 1 ? 2 : 0);
        if (kind == 3)
            continue;
        if (kind != before) {
            m.left[m.count] = m.right[m.count] = 1;
            m.count++;
            before = kind;
        }
        m.left[m.count - 1] *= a->dim[i];
        m.right[m.count - 1] *= b->dim[i];
    }
    return m;
}

/* The operand's matrix in `count` batch axes. */
static tsr_shape batched(const int64_t *batch, int count, const tsr_shape *matrix) {
    tsr_shape shape = {.rank = count + 2};
    for (int i = 0; i < count; i++)
        shape.dim[i] = batch[i];
    shape.dim[count] = matrix->dim[matrix->rank - 2];
    shape.dim[count + 1] = matrix->dim[matrix->rank - 1];
    return shape;
}

typedef struct product_sides {
    int left, right; /* tensors */
    tsr_shape a, b;  /* of matrices, with as many axes each */
} product_sides;

/* Of the same rank as the result, with its batches. */
static void expand_side(tsr_plan *plan, int *tensor, tsr_shape *side, const tsr_shape *result) {
    tsr_shape all = *result;
    all.dim[all.rank - 2] = side->dim[all.rank - 2];
    all.dim[all.rank - 1] = side->dim[all.rank - 1];
    *tensor = tsr_plan_expand(plan, *tensor, side, &all);
    *side = all;
}

/* Kernels have two batch axes. Where that is too few, both sides get all their batches by copies,
 * and one axis for them. */
static void merge_sides(tsr_plan *plan, product_sides *p, tsr_shape *result) {
    batches m = merge_batches(&p->a, &p->b);
    if (m.count > 2) {
        expand_side(plan, &p->left, &p->a, result);
        expand_side(plan, &p->right, &p->b, result);
        m = merge_batches(&p->a, &p->b);
    }
    p->a = batched(m.left, m.count, &p->a);
    p->b = batched(m.right, m.count, &p->b);
    p->left = tsr_plan_reshape(plan, p->left, &p->a);
    p->right = tsr_plan_reshape(plan, p->right, &p->b);
    int64_t columns = result->dim[result->rank - 1];
    *result = p->a;
    for (int i = 0; i < m.count; i++)
        result->dim[i] = tsr_max(m.left[i], m.right[i]);
    result->dim[m.count + 1] = columns;
}

tsr_status tsr_lower_matmul(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *av = tsr_node_in(plan->graph, node, 0),
                    *bv = tsr_node_in(plan->graph, node, 1);
    tsr_shape a = matrix_shape(&av->shape, true), b = matrix_shape(&bv->shape, false);
    if (bv->data && b.rank == 2) {
        lower_dense(plan, node, &a, bv, b.dim[1]);
        return plan->status;
    }
    tsr_shape shape = tsr_node_out(plan->graph, node, 0)
                          ->shape; /* of the product: leading axes are the output's */
    shape.rank = a.rank > b.rank ? a.rank : b.rank;
    shape.dim[shape.rank - 2] = a.dim[a.rank - 2];
    shape.dim[shape.rank - 1] = b.dim[b.rank - 1];
    product_sides p = {.a = tsr_operand_shape(&a, shape.rank),
                       .b = tsr_operand_shape(&b, shape.rank)};
    p.left = tsr_lower_seen(plan, node->inputs[0], &p.a);
    p.right = tsr_lower_seen(plan, node->inputs[1], &p.b);
    if (shape.rank > 4)
        merge_sides(plan, &p, &shape);
    int output = tsr_lower_output(plan, node, &shape);
    lower_product(plan, node, p.left, p.right, shape.rank, a.dim[a.rank - 1], output);
    tsr_lower_finish(plan, node, output);
    return plan->status;
}
