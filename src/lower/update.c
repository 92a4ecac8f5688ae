/* AdamUpdate: all of its outputs by one pass. */
#include "base/divide.h"
#include "graph/update.h"
#include "lower/lower.h"

/* Output 0 may have fewer planes than others, since it is joined with other tensors. */
static void make_outputs(tsr_plan *plan, const tsr_node *node, int outputs[TSR_ADAM_OUTPUTS]) {
    int planes = TSR_MAX_PLANES;
    for (int i = 0; i < TSR_ADAM_OUTPUTS; i++) {
        outputs[i] = tsr_plan_output(plan, node, i);
        planes = (int)tsr_min(planes, tsr_plan_layout(plan, outputs[i])->planes);
    }
    for (int i = 0; i < TSR_ADAM_OUTPUTS; i++)
        tsr_plan_narrow(plan, outputs[i], planes);
}

tsr_status tsr_lower_adam_update(tsr_plan *plan, const tsr_node *node) {
    const tsr_adam adam = tsr_adam_of(node);
    int in[TSR_ADAM_INPUTS], out[TSR_ADAM_OUTPUTS];
    for (int i = 0; i < TSR_ADAM_INPUTS; i++)
        in[i] = tsr_plan_value(plan, node->inputs[i]);
    make_outputs(plan, node, out);
    tsr_pass *pass = TSR_PASS(
        plan, out[0], adam_update, .X = TSR_TENSOR(in[TSR_ADAM_X]),
        .G = TSR_TENSOR(in[TSR_ADAM_GRADIENT]), .V = TSR_TENSOR(in[TSR_ADAM_MEANS]),
        .H = TSR_TENSOR(in[TSR_ADAM_SQUARES]), .F = TSR_TENSOR(in[TSR_ADAM_FACTORS]),
        .mean_part = TSR_FLOAT(adam.mean_part), .square_part = TSR_FLOAT(adam.square_part),
        .epsilon = TSR_FLOAT(adam.epsilon), .norm_coefficient = TSR_FLOAT(adam.norm_coefficient));
    tsr_pass_also_writes(plan, pass, out[1]);
    tsr_pass_also_writes(plan, pass, out[2]);
    return plan->status;
}
