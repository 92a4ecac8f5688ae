/* Custom operators: the caller's body inside glsl/custom.glsl or wgsl/custom.wgsl. */
#include "gpu/lower.h"

#include "base/error.h"

tsr_status tsr_lower_custom(tsr_plan *plan, const tsr_node *node) {
    const tsr_custom_op *op = node->custom;
    bool wgsl = plan->kernels->wgsl;
    const char *body = wgsl ? op->wgsl : op->glsl;
    if (!body)
        return tsr_fail(TSR_UNSUPPORTED, "the custom operator '%s' has no body in %s", op->name,
                        wgsl ? "WGSL" : "GLSL");
    int inputs[TSR_MAX_CUSTOM_INPUTS];
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = tsr_plan_value(plan, node->inputs[i]);
    tsr_pass *pass = tsr_plan_pass(plan, "custom", tsr_plan_output(plan, node, 0));
    pass->body = body;
    tsr_pass_define(pass, "GIVEN", node->input_count);
    for (int i = 0; i < node->input_count; i++)
        tsr_pass_source(plan, pass, inputs[i]);
    for (int i = 0; i < op->attr_count; i++) {
        const char *name = tsr_arena_printf(plan->arena, "attr_%s", op->attrs[i].name);
        if (!name)
            return tsr_plan_out_of_memory(plan);
        tsr_pass_floats(pass, name, tsr_attr_float(node, op->attrs[i].name, 0), 0, 0, 0);
    }
    return plan->status;
}
