#include "lower/lower.h"

#include "base/error.h"

tsr_lower_fn *const tsr_lowerings[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, ...) [TSR_OP_##Name] = tsr_lower_##stem,
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = tsr_lower_unary,
#define TSR_BINARY(Name, stem) [TSR_OP_##Name] = tsr_lower_binary,
#define TSR_VIEW(Name, stem, ...) [TSR_OP_##Name] = tsr_lower_view,
#define TSR_FOLDED(Name, stem, ...) /* removed by src/passes */
#include "graph/ops.def"
};

float tsr_const_number(const tsr_graph *graph, const tsr_node *node, int input,
                       float default_value) {
    const tsr_value *value = tsr_node_in(graph, node, input);
    if (!value || !value->data)
        return default_value;
    return tsr_dtype_is_float(value->dtype) ? *(const tsr_unaligned_float *)value->data
                                            : (float)*(const int64_t *)value->data;
}

int tsr_usual_axis(int rank, int axis) {
    return tsr_layout_axis(rank, tsr_layout_channel_axis(rank), axis);
}

void tsr_lower_per_channel(tsr_plan *plan, tsr_pass *pass, tsr_op op, const tsr_node *node,
                           int input) {
    const tsr_value *v = tsr_node_in(plan->graph, node, input);
    if (!v)
        return;
    tsr_shape shape = {4, {1, v->shape.dim[0], 1, 1}};
    tsr_pass_post_binary(plan, pass, op, tsr_plan_constant(plan, &shape, v->data), false);
}
