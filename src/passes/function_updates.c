/* Optimizers of training: Adam, Adagrad, Momentum. Each takes the learning rate, the number of
 * updates so far and lists of the same length: tensors, their gradients, and one or two lists of
 * states. It gives the lists of tensors and states after the update. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"
#include "graph/update.h"

#include <math.h>

enum { RATE, UPDATES, TENSORS }; /* inputs */
enum { MAX_STATES = 2 };         /* of a tensor */

/* A tensor; what is computed from it has its type. */
typedef struct update {
    tsr_builder *b;
    int rate, updates; /* scalars */
    int x, gradient;
    int states[MAX_STATES];
} update;

/* Sets x and states to what they are after the update. */
typedef void update_fn(update *u);

/* ---- lists ----------------------------------------------------------------------------------- */

static tsr_status check_tensors(const tsr_builder *b, int lists, int count) {
    const tsr_node *node = b->node;
    for (int i = 0; i < lists * count; i++) {
        const tsr_value *x = tsr_node_in(b->graph, node, TENSORS + i % count),
                        *value = tsr_node_in(b->graph, node, TENSORS + i);
        if (!tsr_dtype_is_float(x->dtype) || value->dtype != x->dtype ||
            !tsr_shape_equal(&value->shape, &x->shape))
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "input %d ('%s') is %s of shape %s, its tensor ('%s') %s of shape %s",
                            TENSORS + i, value->name, tsr_dtype_name(value->dtype),
                            tsr_shape_text(&value->shape), x->name, tsr_dtype_name(x->dtype),
                            tsr_shape_text(&x->shape));
    }
    return TSR_OK;
}

static tsr_status check(const tsr_builder *b, int lists) {
    const tsr_node *node = b->node;
    const tsr_value *rate = tsr_node_in(b->graph, node, RATE),
                    *updates = tsr_node_in(b->graph, node, UPDATES);
    const int tensors = node->input_count - TENSORS;
    TSR_TRY(tsr_require_float(b->graph, node, 1));
    TSR_TRY(tsr_require_scalar(rate));
    TSR_TRY(tsr_require_scalar(updates));
    if (updates->dtype != TSR_DTYPE_I64)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "a number of updates of type %s",
                        tsr_dtype_name(updates->dtype));
    if (tensors % lists != 0 || node->output_count > tensors / lists * (lists - 1))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d tensors and %d outputs for %d lists", tensors,
                        node->output_count, lists);
    return check_tensors(b, lists, tensors / lists);
}

static int scalar_like(tsr_builder *b, int value, int like) {
    return tsr_build_cast_like(b, tsr_build_reshape(b, value, &(tsr_shape){0}), like);
}

/* The first tensor's is the last, which tsr_build_end() takes for output 0. */
static void update_all(tsr_builder *b, int states, update_fn *rule) {
    const int *in = b->node->inputs, lists = 2 + states;
    const int count = (b->node->input_count - TENSORS) / lists;
    tsr_build_fail(b, check(b, lists));
    for (int i = count - 1; i >= 0 && b->status == TSR_OK; i--) {
        update u = {.b = b, .x = in[TENSORS + i], .gradient = in[TENSORS + count + i]};
        u.rate = scalar_like(b, in[RATE], u.x);
        u.updates = scalar_like(b, in[UPDATES], u.x);
        for (int k = 0; k < states; k++)
            u.states[k] = in[TENSORS + (2 + k) * count + i];
        rule(&u);
        for (int k = 0; k < states; k++)
            tsr_build_output(b, (1 + k) * count + i, u.states[k]);
        tsr_build_output(b, i, u.x);
    }
}

/* ---- parts of rules -------------------------------------------------------------------------- */

static int number(const update *u, float value) {
    return tsr_build_cast_like(u->b, tsr_build_number(u->b, value), u->x);
}

static int combine(const update *u, tsr_op op, int left, int right) {
    return TSR_BUILD(u->b, op, left, right);
}

static int scaled(const update *u, int value, float factor) {
    return factor == 1 ? value : combine(u, TSR_OP_Mul, value, number(u, factor));
}

static float attr(const update *u, const char *name, float default_value) {
    return tsr_attr_float(u->b->node, name, default_value);
}

/* Of the loss with norm_coefficient / 2 * x^2 added to it. */
static int regularized_gradient(const update *u) {
    float factor = attr(u, "norm_coefficient", 0);
    return factor == 0 ? u->gradient : combine(u, TSR_OP_Add, scaled(u, u->x, factor), u->gradient);
}

/* first / (sqrt(second) + epsilon) */
static int over_root(const update *u, int first, int second) {
    int root = TSR_BUILD(u->b, TSR_OP_Sqrt, second);
    return combine(u, TSR_OP_Div, first,
                   combine(u, TSR_OP_Add, root, number(u, attr(u, "epsilon", 1e-6f))));
}

/* x - rate * direction */
static int step(const update *u, int rate, int direction) {
    return combine(u, TSR_OP_Sub, u->x, combine(u, TSR_OP_Mul, direction, rate));
}

/* `later` where there were updates already, else `first`. */
static int after_first(const update *u, int later, int first) {
    return TSR_BUILD(u->b, TSR_OP_Where, combine(u, TSR_OP_Greater, u->updates, number(u, 0)),
                     later, first);
}

/* factor * state + (1 - factor) * now */
static int average(const update *u, int state, int now, float factor) {
    return combine(u, TSR_OP_Add, scaled(u, state, factor), scaled(u, now, 1 - factor));
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* 1 - factor^updates as 2 t / (1 + t), where t = tanh(-updates * ln(factor) / 2): nothing cancels
 * where the factor is near 1. A factor below e^-100 is as 0. */
static int bias_of(const update *u, float factor) {
    double half = fmin(-log(factor) / 2, 50);
    int t = TSR_BUILD(u->b, TSR_OP_Tanh, scaled(u, u->updates, (float)half));
    int divisor = combine(u, TSR_OP_Add, t, number(u, 1));
    return combine(u, TSR_OP_Div, scaled(u, t, 2), divisor);
}

static void update_by_adam(update *u) {
    const float alpha = attr(u, "alpha", 0.9f), beta = attr(u, "beta", 0.999f);
    tsr_build_fail(u->b, tsr_check_adam(alpha, beta));
    if (u->b->status != TSR_OK)
        return;
    int gradient = regularized_gradient(u);
    int v = average(u, u->states[0], gradient, alpha),
        h = average(u, u->states[1], combine(u, TSR_OP_Mul, gradient, gradient), beta);
    int root = TSR_BUILD(u->b, TSR_OP_Sqrt, bias_of(u, beta)),
        factor = combine(u, TSR_OP_Div, root, bias_of(u, alpha)),
        rate = after_first(u, combine(u, TSR_OP_Mul, u->rate, factor), u->rate);
    u->x = scaled(u, step(u, rate, over_root(u, v, h)), 1 - attr(u, "norm_coefficient_post", 0));
    u->states[0] = v;
    u->states[1] = h;
}

static void update_by_adagrad(update *u) {
    int gradient = regularized_gradient(u),
        h = combine(u, TSR_OP_Add, u->states[0], combine(u, TSR_OP_Mul, gradient, gradient));
    int decay = scaled(u, u->updates, attr(u, "decay_factor", 0)),
        rate = combine(u, TSR_OP_Div, u->rate, combine(u, TSR_OP_Add, decay, number(u, 1)));
    u->x = step(u, rate, over_root(u, gradient, h));
    u->states[0] = h;
}

static void update_by_momentum(update *u) {
    static const char *const modes[] = {"standard", "nesterov"};
    int mode = 0;
    tsr_build_fail(u->b, tsr_read_choice(u->b->node, "mode", modes, 2, &mode));
    int gradient = regularized_gradient(u),
        factor = after_first(u, number(u, attr(u, "beta", 0)), number(u, 1));
    float alpha = attr(u, "alpha", 0);
    int v = combine(u, TSR_OP_Add, scaled(u, u->states[0], alpha),
                    combine(u, TSR_OP_Mul, gradient, factor));
    int direction = mode == 0 ? v : combine(u, TSR_OP_Add, gradient, scaled(u, v, alpha));
    u->x = step(u, u->rate, direction);
    u->states[0] = v;
}

void tsr_build_adam(tsr_builder *b) {
    update_all(b, 2, update_by_adam);
}

void tsr_build_adagrad(tsr_builder *b) {
    update_all(b, 1, update_by_adagrad);
}

void tsr_build_momentum(tsr_builder *b) {
    update_all(b, 1, update_by_momentum);
}
