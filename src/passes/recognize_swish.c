/* Swish and HardSwish as exporters write them: x * sigmoid(a * x); x * clip(x + 3, 0, 6) / 6 and
 * x * hard_sigmoid(x), with the factors in any order. */
#include "passes/match.h"

#include <math.h>

static bool is_of_float(const tsr_matcher *m, const tsr_node *node, int x) {
    const tsr_value *in = &m->graph->values[x], *out = tsr_node_out(m->graph, node, 0);
    return tsr_dtype_is_float(in->dtype) && tsr_shape_equal(&in->shape, &out->shape);
}

static bool is_sigmoid(const tsr_matcher *m, int value, int x, double *alpha) {
    const tsr_node *sigmoid = tsr_match_part(m, value, TSR_OP_Sigmoid, 1);
    return sigmoid && tsr_match_multiple(m, sigmoid->inputs[0], x, alpha);
}

/* clip(x + 3, 0, 6) */
static bool is_clipped(const tsr_matcher *m, int value, int x) {
    const tsr_node *clip = tsr_match_part(m, value, TSR_OP_Clip, 1);
    float low;
    return clip && clip->input_count == 3 && tsr_match_number(m, clip->inputs[1], &low) &&
           low == 0 && tsr_match_equals(m, clip->inputs[2], 6) &&
           tsr_match_sum(m, clip->inputs[0], 3) == x;
}

static bool is_hard_sigmoid(const tsr_matcher *m, int value, int x) {
    const tsr_node *node = tsr_match_part(m, value, TSR_OP_HardSigmoid, 1);
    float param[2];
    if (!node || node->inputs[0] != x)
        return false;
    tsr_op_params(node, param);
    return tsr_is_near((double)param[0], 1.0 / 6) && tsr_is_near((double)param[1], 0.5);
}

static tsr_status rewrite(const tsr_matcher *m, tsr_node *node) {
    if (node->op != TSR_OP_Mul && node->op != TSR_OP_Div)
        return TSR_OK;
    const tsr_product product = tsr_match_product(m, node->outputs[0]);
    for (int i = 0; i < 2 && product.count == 2; i++) {
        int x = product.values[i], gate = product.values[1 - i];
        double alpha;
        if (!is_of_float(m, node, x))
            continue;
        if (product.number == 1 && is_sigmoid(m, gate, x, &alpha) && isfinite((float)alpha))
            return tsr_match_replace_unary(m, node, TSR_OP_Swish, x, "alpha", (float)alpha);
        if ((tsr_is_near(product.number, 1.0 / 6) && is_clipped(m, gate, x)) ||
            (product.number == 1 && is_hard_sigmoid(m, gate, x)))
            return tsr_match_replace_unary(m, node, TSR_OP_HardSwish, x, NULL, 0);
    }
    return TSR_OK;
}

tsr_status tsr_pass_recognize_swish(tsr_graph *graph) {
    return tsr_match_each(graph, rewrite);
}
