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
    tsr_op_params(node, param);
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

tsr_status tsr_lower_bitwise_not(tsr_plan *plan, const tsr_node *node) {
    return lower_unary(plan, node, (const float[2]){0, 0});
}

tsr_status tsr_lower_is_inf(tsr_plan *plan, const tsr_node *node) {
    const float param[2] = {tsr_attr_int(node, "detect_positive", 1) != 0,
                            tsr_attr_int(node, "detect_negative", 1) != 0};
    return lower_unary(plan, node, param);
}

tsr_status tsr_lower_is_nan(tsr_plan *plan, const tsr_node *node) {
    return lower_unary(plan, node, (const float[2]){0, 0});
}

/* The function of glsl/binary.glsl and its sibling, where that is not the operator's stem. */
static const char *function_of(const tsr_node *node, tsr_dtype dtype) {
    bool is_float = tsr_dtype_is_float(dtype);
    if (node->op == TSR_OP_Div && !is_float)
        return "div_bytes";
    if (node->op == TSR_OP_Mod && !is_float)
        return tsr_attr_int(node, "fmod", 0) ? "fmod_bytes" : "mod_bytes";
    if (node->op == TSR_OP_BitShift && tsr_shifts_right(node))
        return "shift_right";
    return NULL;
}

tsr_status tsr_lower_binary(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *out = tsr_node_out(plan->graph, node, 0);
    int a = tsr_plan_operand(plan, node->inputs[0], &out->shape);
    if (node->input_count == 1) { /* Max and the like of a single tensor */
        tsr_plan_copy(plan, a, tsr_plan_output(plan, node, 0));
        return plan->status;
    }
    float number[2] = {0};
    const char *function = tsr_plan_number_function(plan, node->op, node->inputs[1], number);
    int b = function ? 0 : tsr_plan_operand(plan, node->inputs[1], &out->shape);
    tsr_pass *pass = tsr_plan_copy(plan, a, tsr_plan_output(plan, node, 0));
    if (function)
        tsr_pass_post_unary(pass, node->op, number);
    else
        tsr_pass_post_binary(plan, pass, node->op, b, false);
    pass->posts[pass->post_count - 1].function =
        function ? function : function_of(node, out->dtype);
    tsr_pass_wrap(pass, out->dtype);
    return plan->status;
}

tsr_status tsr_lower_leaky_relu_grad(tsr_plan *plan, const tsr_node *node) {
    float param[2];
    tsr_op_params(node, param);
    int dy = tsr_plan_value_with(plan, node->inputs[0], plan->axis),
        y = tsr_plan_value_with(plan, node->inputs[1], plan->axis);
    tsr_pass *pass = tsr_plan_copy(plan, dy, tsr_plan_output(plan, node, 0));
    tsr_pass_post_binary(plan, pass, node->op, y, false);
    tsr_pass_post_param(pass, param);
    return plan->status;
}

/* An operand of glsl/where.glsl: a tensor, or a number that is a parameter. */
typedef struct choice {
    tsr_tensor_arg tensor;
    float number;
} choice;

static choice choose(tsr_plan *plan, const tsr_node *node, int i) {
    const tsr_shape *shape = &tsr_node_out(plan->graph, node, 0)->shape;
    choice c = {.number = 0};
    if (i == 0 || !tsr_plan_number(plan, node->inputs[i], &c.number))
        c.tensor = TSR_TENSOR(tsr_plan_operand(plan, node->inputs[i], shape));
    return c;
}

static tsr_int_arg broadcast_of(const tsr_plan *plan, const choice *c, int output) {
    enum { SAME, BROADCAST, NUMBER };
    if (!c->tensor.set)
        return TSR_INT(NUMBER);
    const tsr_layout *o = tsr_plan_layout(plan, output),
                     *l = tsr_plan_layout(plan, (int)c->tensor.tensor);
    bool same = l->n == o->n && l->c == o->c && l->h == o->h && l->w == o->w;
    return TSR_INT(same ? SAME : BROADCAST);
}

tsr_status tsr_lower_where(tsr_plan *plan, const tsr_node *node) {
    const choice x = choose(plan, node, 0), a = choose(plan, node, 1), b = choose(plan, node, 2);
    int output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, where, .X = x.tensor, .A = a.tensor, .B = b.tensor,
             .X_BROADCAST = broadcast_of(plan, &x, output),
             .A_BROADCAST = broadcast_of(plan, &a, output),
             .B_BROADCAST = broadcast_of(plan, &b, output), .a = TSR_FLOAT(a.number),
             .b = TSR_FLOAT(b.number));
    return plan->status;
}
