/* Tensors that several plans share: each in a storage of its own, in the layout that its shape
 * alone decides. */
#include "plan/plan.h"

static bool is_usual(tsr_plan *plan, int tensor, int value) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    const tsr_layout_hint hint = {.format = tsr_plan_format(plan, value)};
    const tsr_shape *shape = &plan->graph->values[value].shape;
    tsr_layout usual;
    if (tsr_plan_fail(plan, tsr_plan_make_layout(plan, shape, hint, &usual)) != TSR_OK)
        return false;
    return !t->constant && !t->separate && !t->in_two && t->root == tensor &&
           tsr_layout_same(&t->layout, &usual);
}

static void separate(tsr_plan_tensor *tensor) {
    tensor->alone = tensor->separate = true;
}

/* An output that its node wrote in another layout, or that is also an input, is copied. */
static tsr_status separate_output(tsr_plan *plan, int value) {
    const tsr_value *v = &plan->graph->values[value];
    int source = tsr_plan_value(plan, value), tensor = source;
    if (!is_usual(plan, source, value) && plan->status == TSR_OK) {
        tensor = tsr_plan_tensor_like(plan, &v->shape, value);
        tsr_plan_copy(plan, source, tensor);
    }
    plan->value_tensor[value] = tensor;
    plan->value_axis[value] = tsr_layout_channel_axis(v->shape.rank);
    separate(&plan->tensors[tensor]);
    return plan->status;
}

tsr_status tsr_plan_separate(tsr_plan *plan) {
    const tsr_graph *graph = plan->graph;
    for (int i = 0; i < graph->input_count; i++) {
        int tensor = plan->value_tensor[graph->inputs[i]];
        if (tensor != TSR_NONE)
            separate(&plan->tensors[tensor]);
    }
    for (int i = 0; i < graph->output_count; i++)
        if (graph->values[graph->outputs[i]].producer != TSR_NONE)
            TSR_TRY(separate_output(plan, graph->outputs[i]));
    return TSR_OK;
}
