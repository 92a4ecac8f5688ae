/* Spectral norms: weights of the discriminator divided by their largest singular value. */
#include "api/trainer.h"

#include <math.h>

#include "base/error.h"
#include "base/random.h"

/* PyTorch's for vectors; here of singular values, too. */
static const float least_norm = 1e-12f;

/* ---- on the CPU ------------------------------------------------------------------------------ */

/* Divides by the norm, which is the result. */
static double normalize(double *vector, int64_t count) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += vector[i] * vector[i];
    double norm = fmax(sqrt(squares), least_norm);
    for (int64_t i = 0; i < count; i++)
        vector[i] /= norm;
    return norm;
}

double tsr_spectral_iterate(const float *matrix, int64_t rows, int64_t columns, double *left,
                            double *right) {
    for (int64_t c = 0; c < columns; c++)
        right[c] = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            right[c] += left[r] * matrix[r * columns + c];
    normalize(right, columns);
    for (int64_t r = 0; r < rows; r++) {
        left[r] = 0;
        for (int64_t c = 0; c < columns; c++)
            left[r] += matrix[r * columns + c] * right[c];
    }
    return normalize(left, rows);
}

/* As many iterations as PyTorch makes at first, from a random vector. */
static tsr_status estimate(tsr_graph *graph, const tsr_spectral_norm *norm, const float *matrix,
                           uint32_t seed, const float **left) {
    enum { ITERATIONS = 15 };
    double *from = TSR_NEW(graph->arena, norm->rows, double),
           *right = TSR_NEW(graph->arena, norm->columns, double);
    float *found = TSR_NEW(graph->arena, norm->rows, float);
    tsr_random random;
    if (!from || !right || !found)
        return tsr_out_of_memory(graph);
    tsr_random_seed(&random, seed);
    for (int64_t r = 0; r < norm->rows; r++)
        from[r] = tsr_random_normal(&random);
    for (int i = 0; i < ITERATIONS; i++)
        tsr_spectral_iterate(matrix, norm->rows, norm->columns, from, right);
    for (int64_t r = 0; r < norm->rows; r++)
        found[r] = (float)from[r];
    *left = found;
    return TSR_OK;
}

/* ---- which weights --------------------------------------------------------------------------- */

/* What a value is a view of, or transposed. */
static int find_origin(const tsr_graph *graph, int value) {
    while (value != TSR_NONE && graph->values[value].producer != TSR_NONE) {
        const tsr_node *node = &graph->nodes[graph->values[value].producer];
        if (!tsr_op_has(node->op, TSR_IS_VIEW) && node->op != TSR_OP_Transpose)
            return value;
        value = node->inputs[0];
    }
    return value;
}

/* By a product: a Gemm's third input is a bias, and a MatMul may have its weights first. */
static bool reads_weights(const tsr_graph *graph, const tsr_node *node, int value) {
    bool first = node->op == TSR_OP_MatMul,
         second = first || node->op == TSR_OP_Gemm || node->op == TSR_OP_Conv;
    return (first && find_origin(graph, node->inputs[0]) == value) ||
           (second && find_origin(graph, node->inputs[1]) == value);
}

static bool is_normalized(const tsr_graph *graph, int value) {
    const tsr_shape *shape = &graph->values[value].shape;
    bool found = false;
    for (int n = 0; n < graph->node_count && !found; n++)
        found = reads_weights(graph, &graph->nodes[n], value);
    return found && shape->rank >= 2 && tsr_shape_count(shape) != 0;
}

/* state: a parameter of the step. */
static tsr_status add_norm(tsr_training *t, int state) {
    const tsr_training_state parameter = t->states[state];
    const tsr_value value = t->graph->values[parameter.before];
    tsr_spectral_norm *norm = &t->spectral[t->spectral_count++];
    *norm = (tsr_spectral_norm){.parameter = state,
                                .left = t->state_count,
                                .rows = value.shape.dim[0],
                                .columns = tsr_dim_product(&value.shape, 1, value.shape.rank),
                                .right = TSR_NONE};
    const float *initial = NULL;
    TSR_TRY(estimate(t->graph, norm, parameter.initial, t->desc->seed, &initial));
    int left =
        tsr_training_add_own_state(t, parameter.before, "left", &(tsr_shape){2, {1, norm->rows}});
    if (left == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    t->states[left].initial = initial;
    t->discriminator.count++;
    t->discriminator.tensor_count++;
    return TSR_OK;
}

tsr_status tsr_training_find_spectral(tsr_training *t, const tsr_graph *discriminator,
                                      const tsr_training_state *own) {
    const tsr_training_group *group = &t->discriminator;
    t->spectral = TSR_NEW(t->graph->arena, group->parameter_count, tsr_spectral_norm);
    if (!t->spectral)
        return tsr_out_of_memory(t->graph);
    for (int i = 0; i < group->parameter_count; i++)
        if (is_normalized(discriminator, own[i].before))
            TSR_TRY(add_norm(t, group->first + i));
    return t->spectral_count ? TSR_OK
                             : tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                        "%s: spectral_norm: Conv, Gemm and MatMul read no weights",
                                        discriminator->file);
}

/* ---- in the graph ---------------------------------------------------------------------------- */

static int build_norm(tsr_builder *b, int value) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    int norm = tsr_build_with(b, TSR_OP_ReduceL2, 1, &value, 1, &drop);
    return TSR_BUILD(b, TSR_OP_Max, norm, tsr_build_number(b, least_norm));
}

/* What a state has become so far. */
static int now(const tsr_training *t, int state) {
    const tsr_training_state *s = &t->states[state];
    return s->after == TSR_NONE ? s->before : s->after;
}

/* right = normal(left * W), left = normal(W * right), sigma = left * W * right, which is the norm
 * of W * right, and has the same gradient while right is held. */
static void build_iteration(tsr_training *t, tsr_builder *b, tsr_spectral_norm *norm) {
    int weight = now(t, norm->parameter),
        matrix = tsr_build_reshape(b, weight, &(tsr_shape){2, {norm->rows, norm->columns}}),
        product = TSR_BUILD(b, TSR_OP_MatMul, now(t, norm->left), matrix);
    norm->right = TSR_BUILD(b, TSR_OP_Div, product, build_norm(b, product));
    int column = tsr_build_reshape(b, norm->right, &(tsr_shape){2, {norm->columns, 1}});
    product = TSR_BUILD(b, TSR_OP_MatMul, matrix, column);
    int sigma = build_norm(b, product),
        row = tsr_build_reshape(b, product, &(tsr_shape){2, {1, norm->rows}});
    tsr_training_set_after(t, norm->left, TSR_BUILD(b, TSR_OP_Div, row, sigma));
    norm->normalized = TSR_BUILD(b, TSR_OP_Div, weight, sigma);
}

void tsr_training_build_spectral(tsr_training *t, tsr_builder *b) {
    for (int i = 0; i < t->spectral_count; i++)
        build_iteration(t, b, &t->spectral[i]);
}
