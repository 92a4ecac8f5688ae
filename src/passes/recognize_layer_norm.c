/* LayerNormalization as exporters write it: c = x - mean(x); c / sqrt(mean(c^2) + epsilon), mostly
 * followed by a constant scale and bias. Means are over the last axis, or over several last ones
 * where a scale follows: LayerNormalization always has one, and ones in place of it could be as
 * large as the tensor. */
#include "passes/match.h"

#include "graph/infer.h"

/* The number of last axes that a ReduceMean is over, which stay as axes of one element; 0 if it is
 * over others. */
static int count_axes(const tsr_matcher *m, const tsr_node *mean) {
    const tsr_shape *shape = &tsr_node_in(m->graph, mean, 0)->shape;
    bool reduced[TSR_MAX_RANK];
    int count = 0;
    if (!tsr_attr_int(mean, "keepdims", 1) ||
        tsr_node_reduced_axes(m->graph, mean, reduced) != TSR_OK)
        return 0;
    for (int i = 0; i < shape->rank; i++)
        count += reduced[i];
    for (int i = 0; i < count; i++)
        if (!reduced[shape->rank - 1 - i])
            return 0;
    return count;
}

/* c / d or c * (1 / d) */
typedef struct quotient {
    int dividend, divisor;
} quotient;

static quotient find_quotient(const tsr_matcher *m, const tsr_node *node) {
    if (node->op == TSR_OP_Div)
        return (quotient){node->inputs[0], node->inputs[1]};
    for (int i = 0; i < 2 && node->op == TSR_OP_Mul; i++) {
        const tsr_node *inverse = tsr_match_part(m, node->inputs[i], TSR_OP_Reciprocal, 1);
        if (inverse)
            return (quotient){node->inputs[1 - i], inverse->inputs[0]};
    }
    return (quotient){TSR_NONE, TSR_NONE};
}

/* The variance of sqrt(variance + epsilon), a ReduceMean; NULL if it is something else. */
static const tsr_node *find_variance(const tsr_matcher *m, int deviation, float *epsilon) {
    const tsr_node *root = tsr_match_part(m, deviation, TSR_OP_Sqrt, 1),
                   *add = root ? tsr_match_part(m, root->inputs[0], TSR_OP_Add, 1) : NULL;
    for (int i = 0; add && i < 2; i++)
        if (tsr_match_number(m, add->inputs[i], epsilon))
            return tsr_match_part(m, add->inputs[1 - i], TSR_OP_ReduceMean, 1);
    return NULL;
}

/* What c^2 or c * c is of, and how often that is read there; TSR_NONE for something else. */
static int find_squared(const tsr_matcher *m, int square, int *reads) {
    const tsr_node *pow = tsr_match_part(m, square, TSR_OP_Pow, 1),
                   *mul = tsr_match_part(m, square, TSR_OP_Mul, 1);
    *reads = pow ? 1 : 2;
    if (pow && tsr_match_equals(m, pow->inputs[1], 2))
        return pow->inputs[0];
    return mul && mul->inputs[0] == mul->inputs[1] ? mul->inputs[0] : TSR_NONE;
}

/* x of x - mean(x), which is computed for the dividend and for what is squared once or twice, and
 * read by the pattern alone; TSR_NONE for something else. */
static int find_centred(const tsr_matcher *m, int dividend, int squared, int reads, int *axes) {
    bool once = dividend == squared;
    const tsr_node *a = tsr_match_part(m, dividend, TSR_OP_Sub, once ? reads + 1 : 1),
                   *b = tsr_match_part(m, squared, TSR_OP_Sub, once ? reads + 1 : reads);
    if (!a || !b || a->inputs[0] != b->inputs[0] || a->inputs[1] != b->inputs[1])
        return TSR_NONE;
    const tsr_node *mean = tsr_match_part(m, a->inputs[1], TSR_OP_ReduceMean, once ? 1 : 2);
    if (!mean || mean->inputs[0] != a->inputs[0])
        return TSR_NONE;
    *axes = count_axes(m, mean);
    return a->inputs[0];
}

/* What a quotient normalizes. */
typedef struct normalized {
    int x;
    float epsilon;
    tsr_shape shape; /* of the last axes that means are over */
} normalized;

static bool find_normalized(const tsr_matcher *m, const tsr_node *node, normalized *n) {
    const quotient q = find_quotient(m, node);
    int axes = 0, reads;
    const tsr_node *variance = find_variance(m, q.divisor, &n->epsilon);
    int squared = variance ? find_squared(m, variance->inputs[0], &reads) : TSR_NONE;
    n->x = squared == TSR_NONE ? TSR_NONE : find_centred(m, q.dividend, squared, reads, &axes);
    if (n->x == TSR_NONE || !axes || axes != count_axes(m, variance))
        return false;
    const tsr_value *x = &m->graph->values[n->x];
    n->shape = tsr_shape_make(axes, x->shape.dim + x->shape.rank - axes);
    return tsr_dtype_is_float(x->dtype);
}

static tsr_status make(const tsr_matcher *m, tsr_node *node, const normalized *n, int scale) {
    const tsr_attr attrs[] = {{.name = "axis", .kind = TSR_ATTR_INT, .i = -n->shape.rank},
                              {.name = "epsilon", .kind = TSR_ATTR_FLOAT, .f = n->epsilon}};
    return tsr_match_replace(m, node, TSR_OP_LayerNormalization, 2, (int[]){n->x, scale}, 2, attrs);
}

/* ---- scale and bias ---- */

static int add_ones(const tsr_matcher *m, const tsr_node *node, tsr_dtype dtype,
                    const tsr_shape *shape) {
    float *ones = TSR_NEW(m->graph->arena, (size_t)tsr_shape_count(shape), float);
    for (int64_t i = 0; ones && i < tsr_shape_count(shape); i++)
        ones[i] = 1;
    return ones ? tsr_add_constant(m->graph, node->name, "scale", dtype, shape, ones) : TSR_NONE;
}

static bool is_all_ones(const tsr_value *value) {
    const tsr_unaligned_float *elements = value->data;
    for (int64_t i = 0; elements && i < tsr_shape_count(&value->shape); i++)
        if (elements[i] != 1)
            return false;
    return elements;
}

/* Is the value a constant of this type and shape? */
static bool is_parameter(const tsr_matcher *m, int value, tsr_dtype dtype, const tsr_shape *shape) {
    const tsr_value *v = &m->graph->values[value];
    return v->data && v->dtype == dtype && tsr_shape_equal(&v->shape, shape);
}

/* A scale or bias behind a LayerNormalization that has none. */
static tsr_status absorb(const tsr_matcher *m, tsr_node *node) {
    for (int i = 0; i < 2; i++) {
        const tsr_node *norm = tsr_match_part(m, node->inputs[i], TSR_OP_LayerNormalization, 1);
        const tsr_value *scale = norm ? tsr_node_in(m->graph, norm, 1) : NULL;
        int other = node->inputs[1 - i];
        if (!norm || norm->input_count > 2 ||
            !is_parameter(m, other, scale->dtype, &scale->shape) ||
            (node->op == TSR_OP_Mul && !is_all_ones(scale)))
            continue;
        const int inputs[] = {norm->inputs[0], node->op == TSR_OP_Mul ? other : norm->inputs[1],
                              other};
        return tsr_match_replace(m, node, TSR_OP_LayerNormalization, node->op == TSR_OP_Mul ? 2 : 3,
                                 inputs, norm->attr_count, norm->attrs);
    }
    return TSR_OK;
}

/* A scale behind a quotient, which nothing else reads. *made: it was one. */
static tsr_status make_scaled(const tsr_matcher *m, tsr_node *node, bool *made) {
    *made = false;
    for (int i = 0; node->op == TSR_OP_Mul && i < 2; i++) {
        const tsr_node *div = tsr_match_part(m, node->inputs[i], TSR_OP_Div, 1),
                       *mul = tsr_match_part(m, node->inputs[i], TSR_OP_Mul, 1);
        int scale = node->inputs[1 - i];
        normalized n;
        if ((*made = (div || mul) && find_normalized(m, div ? div : mul, &n) &&
                     is_parameter(m, scale, m->graph->values[n.x].dtype, &n.shape)))
            return make(m, node, &n, scale);
    }
    return TSR_OK;
}

/* ---- */

static tsr_status rewrite(const tsr_matcher *m, tsr_node *node) {
    enum { MOST_ONES = 1 << 16 };
    normalized n;
    if (find_normalized(m, node, &n) && n.shape.rank == 1 && n.shape.dim[0] <= MOST_ONES) {
        int scale = add_ones(m, node, m->graph->values[n.x].dtype, &n.shape);
        return scale == TSR_NONE ? tsr_out_of_memory(m->graph) : make(m, node, &n, scale);
    }
    bool made;
    TSR_TRY(make_scaled(m, node, &made));
    return !made && (node->op == TSR_OP_Mul || node->op == TSR_OP_Add) ? absorb(m, node) : TSR_OK;
}

tsr_status tsr_pass_recognize_layer_norm(tsr_graph *graph) {
    return tsr_match_each(graph, rewrite);
}
