/* Custom operators: the caller's body inside glsl/custom.glsl or wgsl/custom.wgsl. */
#include "lower/lower.h"

#include "base/error.h"

tsr_status tsr_lower_custom(tsr_plan *plan, const tsr_node *node) {
    const tsr_custom_op *op = node->custom;
    bool wgsl = plan->device.language == TSR_WGSL;
    const char *body = wgsl ? op->wgsl : op->glsl;
    if (!body)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "the custom operator '%s' has no body in %s",
                        op->name, wgsl ? "WGSL" : "GLSL");
    tsr_tensor_arg inputs[TSR_MAX_CUSTOM_INPUTS] = {{false, 0}};
    float *attrs = TSR_NEW(plan->arena, op->attr_count, float);
    if (!attrs)
        return tsr_plan_out_of_memory(plan);
    TSR_TRY(tsr_require_four_axes(tsr_node_out(plan->graph, node, 0)));
    for (int i = 0; i < node->input_count; i++)
        TSR_TRY(tsr_require_four_axes(tsr_node_in(plan->graph, node, i)));
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = TSR_TENSOR(tsr_plan_value(plan, node->inputs[i]));
    for (int i = 0; i < op->attr_count; i++)
        attrs[i] = tsr_attr_float(node, op->attrs[i].name, 0);
    tsr_pass *pass = TSR_PASS(plan, tsr_plan_output(plan, node, 0), custom, .A = inputs[0],
                              .B = inputs[1], .C = inputs[2], .D = inputs[3]);
    pass->body = body;
    pass->custom = op;
    pass->attrs = attrs;
    return plan->status;
}
