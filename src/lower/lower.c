#include "lower/lower.h"

#include "base/error.h"

tsr_lower_fn *const tsr_lowerings[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, ...) [TSR_OP_##Name] = tsr_lower_##stem,
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = tsr_lower_unary,
#define TSR_BINARY(Name, stem, kind) [TSR_OP_##Name] = tsr_lower_binary,
#define TSR_NARY(Name, stem, types) [TSR_OP_##Name] = tsr_lower_binary,
#define TSR_REDUCE(Name, stem, types) [TSR_OP_##Name] = tsr_lower_reduce,
#define TSR_VIEW(Name, stem, ...) [TSR_OP_##Name] = tsr_lower_view,
#define TSR_FOLDED(Name, stem, ...) /* removed by src/passes */
#define TSR_FUNCTION(Name, ...)     /* the same */
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

int tsr_lower_seen(tsr_plan *plan, int value, const tsr_shape *shape) {
    const tsr_value *v = &plan->graph->values[value];
    if (tsr_shape_equal(&v->shape, shape))
        return tsr_plan_value(plan, value);
    return v->data ? tsr_plan_constant_value(plan, v, shape)
                   : tsr_plan_reshape(plan, tsr_plan_value_as_is(plan, value), shape);
}

int tsr_lower_output(tsr_plan *plan, const tsr_node *node, const tsr_shape *shape) {
    const tsr_shape folded =
                        tsr_layout_fold(&tsr_node_out(plan->graph, node, 0)->shape, plan->axis),
                    seen = tsr_layout_fold(shape, tsr_layout_channel_axis(shape->rank));
    bool same = tsr_shape_equal(&seen, &folded);
    return same ? tsr_plan_output(plan, node, 0)
                : tsr_plan_tensor_like(plan, shape, node->outputs[0]);
}

void tsr_lower_finish(tsr_plan *plan, const tsr_node *node, int output) {
    if (plan->value_tensor[node->outputs[0]] == TSR_NONE)
        tsr_lower_reshaped(plan, node, 0, output);
}

tsr_status tsr_require_four_axes(const tsr_value *value) {
    if (value->shape.rank <= 4)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "tensor '%s' of shape %s has more than 4 axes, this operator takes at most 4 "
                    "on a GPU",
                    value->name, tsr_shape_text(&value->shape));
}

int tsr_lower_channels(tsr_plan *plan, const tsr_node *node, int input) {
    const tsr_value *v = tsr_node_in(plan->graph, node, input);
    if (!v)
        return 0;
    tsr_shape shape = {4, {1, v->shape.dim[0], 1, 1}};
    return v->data ? tsr_plan_constant(plan, &shape, v->data)
                   : tsr_plan_value(plan, node->inputs[input]);
}

void tsr_lower_per_channel(tsr_plan *plan, tsr_pass *pass, tsr_op op, int channels) {
    if (channels)
        tsr_pass_post_binary(plan, pass, op, channels, false);
}
