/* Gelu as exporters write it: 0.5 * x * (1 + erf(x / sqrt(2))), and by tanh of a polynomial, with
 * the factors in any order. */
#include "passes/match.h"

static const double root_half = 0.70710678118654752, root_two_over_pi = 0.79788456080286536,
                    cubic = 0.044715;

static bool is_erf(const tsr_matcher *m, int value, int x) {
    const tsr_node *erf = tsr_match_part(m, value, TSR_OP_Erf, 1);
    double number;
    return erf && tsr_match_multiple(m, erf->inputs[0], x, &number) &&
           tsr_is_near(number, root_half);
}

static bool is_power(const tsr_matcher *m, int value, int x, double exponent) {
    const tsr_node *pow = tsr_match_part(m, value, TSR_OP_Pow, 1);
    return pow && pow->inputs[0] == x && tsr_match_equals(m, pow->inputs[1], exponent);
}

/* 0.044715 * x^exponent: x multiplied by itself, or Pow. */
static bool is_term(const tsr_matcher *m, int value, int x, int exponent) {
    if (tsr_match_reads(m, value) != 1)
        return false;
    const tsr_product product = tsr_match_product(m, value);
    if (!tsr_is_near(product.number, cubic))
        return false;
    if (product.count == 1)
        return is_power(m, product.values[0], x, exponent);
    int count = 0;
    for (int i = 0; product.count == exponent && i < exponent; i++)
        count += product.values[i] == x;
    return count == exponent;
}

/* x + 0.044715 x^3 */
static bool is_polynomial(const tsr_matcher *m, int value, int x) {
    const tsr_node *add = tsr_match_part(m, value, TSR_OP_Add, 1);
    return add && is_term(m, tsr_match_other(add, x), x, 3);
}

/* tanh(sqrt(2 / pi) * (x + 0.044715 x^3)), or of sqrt(2 / pi) * x * (1 + 0.044715 x^2) */
static bool is_tanh(const tsr_matcher *m, int value, int x) {
    const tsr_node *tanh = tsr_match_part(m, value, TSR_OP_Tanh, 1);
    if (!tanh || tsr_match_reads(m, tanh->inputs[0]) != 1)
        return false;
    const tsr_product product = tsr_match_product(m, tanh->inputs[0]);
    const int *values = product.values;
    if (!tsr_is_near(product.number, root_two_over_pi))
        return false;
    if (product.count == 1)
        return is_polynomial(m, values[0], x);
    for (int i = 0; product.count == 2 && i < 2; i++)
        if (values[i] == x && is_term(m, tsr_match_sum(m, values[1 - i], 1), x, 2))
            return true;
    return false;
}

static tsr_status rewrite(const tsr_matcher *m, tsr_node *node) {
    if (node->op != TSR_OP_Mul && node->op != TSR_OP_Div)
        return TSR_OK;
    const tsr_value *out = tsr_node_out(m->graph, node, 0);
    const tsr_product product = tsr_match_product(m, node->outputs[0]);
    for (int i = 0; i < 2 && product.count == 2 && tsr_is_near(product.number, 0.5); i++) {
        int x = product.values[i], gate = tsr_match_sum(m, product.values[1 - i], 1);
        bool tanh = is_tanh(m, gate, x);
        if (tsr_dtype_is_float(out->dtype) &&
            tsr_shape_equal(&m->graph->values[x].shape, &out->shape) &&
            (tanh || is_erf(m, gate, x)))
            return tsr_match_replace_unary(m, node, TSR_OP_Gelu, x, "tanh", tanh);
    }
    return TSR_OK;
}

tsr_status tsr_pass_recognize_gelu(tsr_graph *graph) {
    return tsr_match_each(graph, rewrite);
}
