/* Gradients of unary operators. Slopes at kinks are PyTorch's. */
#include "passes/gradient_rules.h"

#define NUMBER(number) tsr_build_number(&g->b, number)

#define DO(Op, ...) TSR_GRAD(g, Op, __VA_ARGS__)

static float param(const tsr_gradient_call *g, int i) {
    float params[2];
    tsr_op_params(g->node, params);
    return params[i];
}

static void give_product(tsr_gradient_call *g, int slope) {
    tsr_grad_give(g, 0, DO(Mul, g->dy, slope));
}

/* value + number */
static int plus(tsr_gradient_call *g, int value, float number) {
    return DO(Add, value, NUMBER(number));
}

/* number - value */
static int minus(tsr_gradient_call *g, float number, int value) {
    return DO(Sub, NUMBER(number), value);
}

static int square(tsr_gradient_call *g, int value) {
    return DO(Mul, value, value);
}

static int magnitude(tsr_gradient_call *g) {
    return DO(Mul, g->x, DO(Sign, g->x));
}

/* (1 - x) * (1 + x), which near 1 is more exact than 1 - x * x */
static int one_minus_square(tsr_gradient_call *g, int value) {
    return DO(Mul, minus(g, 1, value), plus(g, value, 1));
}

/* dy where value > number, `other` elsewhere */
static void give_above(tsr_gradient_call *g, int value, float number, int other) {
    int mask = DO(Greater, value, NUMBER(number));
    tsr_grad_give(g, 0, DO(Where, mask, g->dy, other));
}

/* ---- piecewise linear ---- */

/* dy where value > 0, alpha * dy elsewhere: mostly a post-op of what makes dy. */
static void give_leaky_relu_grad(tsr_gradient_call *g, int value, float alpha) {
    const int inputs[] = {g->dy, value};
    const tsr_attr attrs[] = {tsr_float_attr("alpha", alpha)};
    tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_LeakyReluGrad, 2, inputs, 1, attrs));
}

/* The result tells where the input was positive: that need not be kept. */
void tsr_gradient_relu(tsr_gradient_call *g) {
    give_leaky_relu_grad(g, g->y, 0);
}

/* So does its result, unless alpha turns signs. */
void tsr_gradient_leaky_relu(tsr_gradient_call *g) {
    float alpha = param(g, 0);
    give_leaky_relu_grad(g, alpha >= 0 ? g->y : g->x, alpha);
}

/* Linear in input 0; which elements are positive changes nowhere but at 0. */
void tsr_gradient_leaky_relu_grad(tsr_gradient_call *g) {
    give_leaky_relu_grad(g, g->node->inputs[1], param(g, 0));
}

void tsr_gradient_thresholded_relu(tsr_gradient_call *g) {
    give_above(g, g->x, param(g, 0), NUMBER(0));
}

void tsr_gradient_shrink(tsr_gradient_call *g) {
    give_above(g, magnitude(g), param(g, 0), NUMBER(0));
}

/* alpha where the result is neither 0 nor 1 */
void tsr_gradient_hard_sigmoid(tsr_gradient_call *g) {
    int above = DO(Greater, g->y, NUMBER(0)), below = DO(Less, g->y, NUMBER(1));
    tsr_grad_give(g, 0,
                  tsr_grad_where(g, DO(And, above, below), tsr_grad_scale(g, g->dy, param(g, 0))));
}

/* 0 up to -3, x / 3 + 1/2 up to 3, then 1 */
void tsr_gradient_hard_swish(tsr_gradient_call *g) {
    int middle = DO(Mul, g->dy, plus(g, tsr_grad_scale(g, g->x, 1 / 3.0f), 0.5f));
    int left = tsr_grad_where(g, DO(Greater, g->x, NUMBER(-3)), middle);
    tsr_grad_give(g, 0, DO(Where, DO(Less, g->x, NUMBER(3)), left, g->dy));
}

void tsr_gradient_abs(tsr_gradient_call *g) {
    give_product(g, DO(Sign, g->x));
}

void tsr_gradient_neg(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Neg, g->dy));
}

/* ---- activations ---- */

void tsr_gradient_sigmoid(tsr_gradient_call *g) {
    give_product(g, DO(Mul, g->y, minus(g, 1, g->y)));
}

void tsr_gradient_tanh(tsr_gradient_call *g) {
    give_product(g, one_minus_square(g, g->y));
}

/* above * dy where x > 0, (factor * y + offset) * dy elsewhere */
static void give_exponential(tsr_gradient_call *g, float above, float factor, float offset) {
    int mask = DO(Greater, g->x, NUMBER(0)),
        slope = plus(g, tsr_grad_scale(g, g->y, factor), offset);
    give_product(g, DO(Where, mask, NUMBER(above), slope));
}

void tsr_gradient_elu(tsr_gradient_call *g) {
    give_exponential(g, 1, 1, param(g, 0));
}

void tsr_gradient_celu(tsr_gradient_call *g) {
    give_exponential(g, 1, 1 / param(g, 0), 1);
}

void tsr_gradient_selu(tsr_gradient_call *g) {
    give_exponential(g, param(g, 1), 1, param(g, 0) * param(g, 1));
}

/* t + x * (1 - t * t) * sigmoid(x), t = tanh(softplus(x)) */
void tsr_gradient_mish(tsr_gradient_call *g) {
    int t = DO(Tanh, DO(Softplus, g->x));
    int grown = DO(Mul, one_minus_square(g, t), DO(Swish, g->x));
    give_product(g, DO(Add, t, grown));
}

/* s + alpha * y * (1 - s), s = sigmoid(alpha * x) */
void tsr_gradient_swish(tsr_gradient_call *g) {
    float alpha = param(g, 0);
    int s = DO(Sigmoid, tsr_grad_scale(g, g->x, alpha));
    int grown = DO(Mul, tsr_grad_scale(g, g->y, alpha), minus(g, 1, s));
    give_product(g, DO(Add, s, grown));
}

/* Phi(x) + x * phi(x), Phi being the normal distribution and phi its density */
static int gelu_slope(tsr_gradient_call *g) {
    int phi = DO(Exp, tsr_grad_scale(g, square(g, g->x), -0.5f)),
        weighted = DO(Mul, g->x, tsr_grad_scale(g, phi, 0.3989422804f)); /* 1 / sqrt(2 pi) */
    int erf = DO(Erf, tsr_grad_scale(g, g->x, 0.7071067812f));
    return DO(Add, plus(g, tsr_grad_scale(g, erf, 0.5f), 0.5f), weighted);
}

/* (1 + t) / 2 + x / 2 * (1 - t * t) * u', t = tanh(u), u = r * (x + c * x ^ 3) */
static int gelu_tanh_slope(tsr_gradient_call *g) {
    const float r = 0.7978845608f, c = 0.044715f; /* r: sqrt(2 / pi) */
    int squared = square(g, g->x), cubic = plus(g, tsr_grad_scale(g, squared, c * r), r);
    int t = DO(Tanh, DO(Mul, g->x, cubic));
    int u_slope = plus(g, tsr_grad_scale(g, squared, 1.5f * c * r), 0.5f * r); /* u' / 2 */
    int grown = DO(Mul, DO(Mul, g->x, u_slope), one_minus_square(g, t));
    return DO(Add, plus(g, tsr_grad_scale(g, t, 0.5f), 0.5f), grown);
}

void tsr_gradient_gelu(tsr_gradient_call *g) {
    give_product(g, param(g, 0) != 0 ? gelu_tanh_slope(g) : gelu_slope(g));
}

void tsr_gradient_softplus(tsr_gradient_call *g) {
    give_product(g, DO(Sigmoid, g->x));
}

/* 1 / (1 + |x|) ^ 2 */
void tsr_gradient_softsign(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, g->dy, square(g, plus(g, magnitude(g), 1))));
}

/* ---- functions ---- */

void tsr_gradient_exp(tsr_gradient_call *g) {
    give_product(g, g->y);
}

void tsr_gradient_log(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, g->dy, g->x));
}

void tsr_gradient_sqrt(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, tsr_grad_scale(g, g->dy, 0.5f), g->y));
}

void tsr_gradient_reciprocal(tsr_gradient_call *g) {
    give_product(g, DO(Neg, square(g, g->y)));
}

/* 2 / sqrt(pi) * exp(-x * x) */
void tsr_gradient_erf(tsr_gradient_call *g) {
    give_product(g, tsr_grad_scale(g, DO(Exp, DO(Neg, square(g, g->x))), 1.128379167f));
}

void tsr_gradient_sin(tsr_gradient_call *g) {
    give_product(g, DO(Cos, g->x));
}

void tsr_gradient_cos(tsr_gradient_call *g) {
    give_product(g, DO(Neg, DO(Sin, g->x)));
}

void tsr_gradient_tan(tsr_gradient_call *g) {
    give_product(g, plus(g, square(g, g->y), 1));
}

void tsr_gradient_asin(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, g->dy, DO(Sqrt, one_minus_square(g, g->x))));
}

void tsr_gradient_acos(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, DO(Neg, g->dy), DO(Sqrt, one_minus_square(g, g->x))));
}

void tsr_gradient_atan(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, g->dy, plus(g, square(g, g->x), 1)));
}

void tsr_gradient_sinh(tsr_gradient_call *g) {
    give_product(g, DO(Cosh, g->x));
}

void tsr_gradient_cosh(tsr_gradient_call *g) {
    give_product(g, DO(Sinh, g->x));
}

void tsr_gradient_asinh(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, g->dy, DO(Sqrt, plus(g, square(g, g->x), 1))));
}

/* The root of (x - 1) * (x + 1). */
void tsr_gradient_acosh(tsr_gradient_call *g) {
    int squared = DO(Mul, plus(g, g->x, -1), plus(g, g->x, 1));
    tsr_grad_give(g, 0, DO(Div, g->dy, DO(Sqrt, squared)));
}

void tsr_gradient_atanh(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, DO(Div, g->dy, one_minus_square(g, g->x)));
}
