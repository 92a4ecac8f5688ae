/* Gradients of element by element operators of several inputs, which are broadcast. */
#include "passes/gradient_rules.h"

#include "base/error.h"

#define DO(Op, ...) TSR_GRAD(g, Op, __VA_ARGS__)

/* Gives what is of the result's shape. */
static void give_sum(tsr_gradient_call *g, int i, int value) {
    const tsr_shape shape = tsr_grad_shape(g, g->node->inputs[i]);
    tsr_grad_give(g, i, tsr_grad_sum_to(g, value, &shape));
}

/* Of Add and Sum. */
void tsr_gradient_sum(tsr_gradient_call *g) {
    if (tsr_gradient_batch_norm(g))
        return;
    for (int i = 0; i < g->node->input_count; i++)
        if (tsr_grad_wants(g, i))
            give_sum(g, i, g->dy);
}

void tsr_gradient_mean(tsr_gradient_call *g) {
    int part = tsr_grad_scale(g, g->dy, 1 / (float)g->node->input_count);
    for (int i = 0; i < g->node->input_count; i++)
        if (tsr_grad_wants(g, i))
            give_sum(g, i, part);
}

/* The sum, which may have fewer elements, is negated, not what it is of. */
void tsr_gradient_sub(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->node->inputs[1]);
    if (tsr_grad_wants(g, 0))
        give_sum(g, 0, g->dy);
    if (tsr_grad_wants(g, 1))
        tsr_grad_give(g, 1, DO(Neg, tsr_grad_sum_to(g, g->dy, &shape)));
}

void tsr_gradient_mul(tsr_gradient_call *g) {
    const bool squares = g->node->inputs[0] == g->node->inputs[1];
    if (squares && tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, DO(Mul, g->x, tsr_grad_scale(g, g->dy, 2)));
    for (int i = 0; i < 2 && !squares; i++)
        if (tsr_grad_wants(g, i))
            give_sum(g, i, DO(Mul, g->dy, g->node->inputs[1 - i]));
}

/* q = dy / b, and -q * y */
void tsr_gradient_div(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->node->inputs[1]);
    int quotient = DO(Div, g->dy, g->node->inputs[1]);
    if (tsr_grad_wants(g, 0))
        give_sum(g, 0, quotient);
    if (tsr_grad_wants(g, 1)) {
        int sum = tsr_grad_sum_to(g, DO(Mul, quotient, g->y), &shape);
        tsr_grad_give(g, 1, DO(Neg, sum));
    }
}

/* a - b * trunc(a / b): the quotient is constant almost everywhere. */
void tsr_gradient_mod(tsr_gradient_call *g) {
    int a = g->node->inputs[0], b = g->node->inputs[1];
    if (tsr_grad_wants(g, 0))
        give_sum(g, 0, g->dy);
    if (tsr_grad_wants(g, 1)) {
        int quotient = DO(Round, DO(Div, DO(Sub, g->y, a), b));
        give_sum(g, 1, DO(Mul, g->dy, quotient));
    }
}

/* ---- Pow ---- */

/* An exponent that is a constant of one element; 0: another, or that. */
static double constant_exponent(const tsr_gradient_call *g) {
    const tsr_value *v = tsr_node_in(g->b.graph, g->node, 1);
    if (!v->data || tsr_shape_count(&v->shape) != 1)
        return 0;
    return tsr_dtype_is_float(v->dtype) ? *(const tsr_unaligned_float *)v->data
                                        : tsr_dtype_number(v->dtype, *(const int64_t *)v->data);
}

/* b * a ^ (b - 1); 0 where b is 0, whatever a is. */
static int base_slope(tsr_gradient_call *g, int a, int b) {
    double exponent = constant_exponent(g);
    if (exponent == 2)
        return tsr_grad_scale(g, a, 2);
    int power = DO(Pow, a, DO(Sub, b, tsr_build_number(&g->b, 1))), slope = DO(Mul, b, power);
    if (exponent != 0)
        return slope;
    return DO(Where, DO(Equal, b, tsr_build_number(&g->b, 0)), tsr_build_number(&g->b, 0), slope);
}

/* y * log(a); 0 where a is 0 and b is not negative. */
static int exponent_slope(tsr_gradient_call *g, int a, int b) {
    int zero = tsr_build_number(&g->b, 0);
    int flat = DO(And, DO(Equal, a, zero), DO(GreaterOrEqual, b, zero));
    return DO(Where, flat, zero, DO(Mul, g->y, DO(Log, a)));
}

void tsr_gradient_pow(tsr_gradient_call *g) {
    int a = g->node->inputs[0], b = g->node->inputs[1];
    if (g->b.graph->values[b].dtype != g->b.graph->values[a].dtype)
        b = tsr_build_cast_like(&g->b, b, a);
    if (tsr_grad_wants(g, 0))
        give_sum(g, 0, DO(Mul, g->dy, base_slope(g, a, b)));
    if (tsr_grad_wants(g, 1))
        give_sum(g, 1, DO(Mul, g->dy, exponent_slope(g, a, b)));
}

/* ---- piecewise ---- */

/* x > 0 ? x : slope * x */
void tsr_gradient_prelu(tsr_gradient_call *g) {
    int slope = g->node->inputs[1];
    int mask = DO(Greater, g->x, tsr_build_number(&g->b, 0));
    if (tsr_grad_wants(g, 0))
        give_sum(g, 0, DO(Where, mask, g->dy, DO(Mul, g->dy, slope)));
    if (tsr_grad_wants(g, 1))
        give_sum(g, 1, DO(Where, mask, tsr_build_number(&g->b, 0), DO(Mul, g->dy, g->x)));
}

/* Max and Min: inputs that equal the result share its gradient. */
void tsr_gradient_extreme(tsr_gradient_call *g) {
    const tsr_node *node = g->node;
    int count = TSR_NONE;
    for (int i = 0; i < node->input_count; i++) {
        int one = tsr_build_cast_like(&g->b, DO(Equal, node->inputs[i], g->y), g->dy);
        count = i == 0 ? one : DO(Add, count, one);
    }
    int part = DO(Div, g->dy, count);
    for (int i = 0; i < node->input_count; i++)
        if (tsr_grad_wants(g, i))
            give_sum(g, i, tsr_grad_where(g, DO(Equal, node->inputs[i], g->y), part));
}

/* Both hold; an absent one does. */
static int both(tsr_gradient_call *g, int a, int b) {
    return a == TSR_NONE ? b : b == TSR_NONE ? a : DO(And, a, b);
}

/* min(max(x, low), high): of x from the lower bound to the upper, both included; of what is not
 * above the upper bound, those below the lower one are its; all others are the upper one's. */
void tsr_gradient_clip(tsr_gradient_call *g) {
    const tsr_node *node = g->node;
    int low = node->input_count > 1 ? node->inputs[1] : TSR_NONE,
        high = node->input_count > 2 ? node->inputs[2] : TSR_NONE;
    int above = low == TSR_NONE ? TSR_NONE : DO(GreaterOrEqual, g->x, low),
        below = high == TSR_NONE ? TSR_NONE : DO(LessOrEqual, g->x, high),
        ordered = low == TSR_NONE || high == TSR_NONE ? TSR_NONE : DO(LessOrEqual, low, high);
    if (tsr_grad_wants(g, 0)) {
        int inside = both(g, above, below);
        tsr_grad_give(g, 0, inside == TSR_NONE ? g->dy : tsr_grad_where(g, inside, g->dy));
    }
    if (tsr_grad_wants(g, 1))
        give_sum(g, 1, tsr_grad_where(g, both(g, DO(Less, g->x, low), ordered), g->dy));
    if (tsr_grad_wants(g, 2))
        give_sum(g, 2, DO(Where, both(g, below, ordered), tsr_build_number(&g->b, 0), g->dy));
}

void tsr_gradient_where(tsr_gradient_call *g) {
    int condition = g->node->inputs[0];
    if (tsr_grad_wants(g, 1))
        give_sum(g, 1, tsr_grad_where(g, condition, g->dy));
    if (tsr_grad_wants(g, 2))
        give_sum(g, 2, DO(Where, condition, tsr_build_number(&g->b, 0), g->dy));
}
