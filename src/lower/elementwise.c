/* Element-wise operators: post-ops of a copy. src/passes/fuse.c leaves few of them standing
 * alone. */
#include "lower/lower.h"

#include "base/error.h"

#include <float.h>

tsr_status tsr_lower_unary(tsr_plan *plan, const tsr_node *node) {
    float param[2];
    tsr_unary_params(node, param);
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass_post_unary(tsr_plan_copy(plan, input, tsr_plan_output(plan, node, 0)), node->op,
                        param);
    return plan->status;
}

tsr_status tsr_lower_clip(tsr_plan *plan, const tsr_node *node) {
    const float param[2] = {tsr_const_float(plan->graph, node, 1, -FLT_MAX),
                            tsr_const_float(plan->graph, node, 2, FLT_MAX)};
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass_post_unary(tsr_plan_copy(plan, input, tsr_plan_output(plan, node, 0)), node->op,
                        param);
    return plan->status;
}

tsr_status tsr_lower_binary(tsr_plan *plan, const tsr_node *node) {
    int rank = tsr_node_out(plan->graph, node, 0)->shape.rank;
    int a = tsr_plan_operand(plan, node->inputs[0], rank),
        b = tsr_plan_operand(plan, node->inputs[1], rank);
    tsr_pass_post_binary(plan, tsr_plan_copy(plan, a, tsr_plan_output(plan, node, 0)), node->op, b,
                         false);
    return plan->status;
}

tsr_status tsr_lower_prelu(tsr_plan *plan, const tsr_node *node) {
    return tsr_lower_binary(plan, node);
}
