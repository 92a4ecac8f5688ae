/* Element-wise operators: post-ops of a copy. src/passes/fuse.c leaves few of them standing
 * alone. */
#include "lower/lower.h"

#include "base/error.h"

#include <float.h>

static tsr_status lower_unary(tsr_plan *plan, const tsr_node *node, const float param[2]) {
    int input = tsr_plan_value_with(plan, node->inputs[0], plan->axis);
    tsr_pass *pass = tsr_plan_copy(plan, input, tsr_plan_output(plan, node, 0));
    tsr_pass_post_unary(pass, node->op, param);
    tsr_pass_wrap(pass, tsr_node_out(plan->graph, node, 0)->dtype);
    return plan->status;
}

tsr_status tsr_lower_unary(tsr_plan *plan, const tsr_node *node) {
    float param[2];
    tsr_unary_params(node, param);
    return lower_unary(plan, node, param);
}

tsr_status tsr_lower_clip(tsr_plan *plan, const tsr_node *node) {
    const float param[2] = {tsr_const_number(plan->graph, node, 1, -FLT_MAX),
                            tsr_const_number(plan->graph, node, 2, FLT_MAX)};
    return lower_unary(plan, node, param);
}

tsr_status tsr_lower_not(tsr_plan *plan, const tsr_node *node) {
    return lower_unary(plan, node, (const float[2]){0, 0});
}

tsr_status tsr_lower_binary(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *out = tsr_node_out(plan->graph, node, 0);
    int a = tsr_plan_operand(plan, node->inputs[0], &out->shape),
        b = tsr_plan_operand(plan, node->inputs[1], &out->shape);
    tsr_pass *pass = tsr_plan_copy(plan, a, tsr_plan_output(plan, node, 0));
    tsr_pass_post_binary(plan, pass, node->op, b, false);
    if (node->op == TSR_OP_Div && !tsr_dtype_is_float(out->dtype))
        pass->posts[pass->post_count - 1].function = "div_bytes";
    tsr_pass_wrap(pass, out->dtype);
    return plan->status;
}

tsr_status tsr_lower_prelu(tsr_plan *plan, const tsr_node *node) {
    return tsr_lower_binary(plan, node);
}
