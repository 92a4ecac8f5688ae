/* Softmax and LogSoftmax: first the sums of what exp makes of the elements, in a pyramid, then a
 * division. */
#include "lower/reduction.h"

/* The pass of one step; first: it reads the input. */
static tsr_pass *add_step(tsr_plan *plan, const tsr_reduction_step *step, const tsr_reduction *r,
                          int source, bool first, bool padded) {
    const bool *axis = r->axis;
    bool fold = axis[TSR_AXIS_C] && step->last;
    const tsr_shape *s = &step->shape, folded = {4, {s->dim[0], 2, s->dim[2], s->dim[3]}};
    int result = fold ? tsr_reduction_result(plan, &folded) : tsr_reduction_pairs(plan, step);
    const tsr_int_arg pairs = TSR_INT(!first), pads = TSR_INT(first && padded);
    tsr_pass *pass =
        step->by_groups
            ? TSR_PASS(plan, result, softmax_sum_group, .X = TSR_TENSOR(source), .PAIRS = pairs,
                       .PADDED = pads, .FOLD = TSR_INT(fold), .region = tsr_axes_args(step->block))
            : TSR_PASS(plan, result, softmax_sum, .X = TSR_TENSOR(source), .PAIRS = pairs,
                       .PADDED = pads, .FOLD = TSR_INT(fold),
                       .PIXELS = TSR_INT(axis[TSR_AXIS_N] || axis[TSR_AXIS_H] || axis[TSR_AXIS_W]),
                       .COLUMNS = TSR_INT(axis[TSR_AXIS_W]), .region = tsr_axes_args(step->block));
    tsr_reduction_groups(pass, step);
    return pass;
}

/* The axes that the node's sums are over. */
static tsr_status find_axes(const tsr_plan *plan, const tsr_node *node, tsr_reduction *r) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int first;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), shape->rank, &first));
    int end = tsr_attr_int(node, "coerce_2d", 0) ? shape->rank : first + 1;
    *r = (tsr_reduction){.exact = false};
    if (shape->rank > 4) { /* see view_axes */
        r->axis[TSR_AXIS_C] = true;
        return TSR_OK;
    }
    for (int i = first; i < end; i++)
        r->axis[tsr_usual_axis(shape->rank, i)] = true;
    return TSR_OK;
}

/* What is subtracted from the input before exp, and the sum of that, 32 bits: glsl/softmax_sum.glsl
 * says how they are stored. */
static tsr_pass *reduce_sums(tsr_plan *plan, const tsr_problem *p, bool workgroups) {
    tsr_layout blocks = *tsr_plan_layout(plan, p->input); /* of the source, a pair being one */
    tsr_reduction r;
    tsr_plan_fail(plan, find_axes(plan, p->node, &r));
    r.workgroups = workgroups;
    bool padded = r.axis[TSR_AXIS_C] && blocks.c % 4 != 0;
    int source = p->input;
    tsr_pass *pass = NULL;
    tsr_reduction_step step = {.last = false};
    while (!step.last && plan->status == TSR_OK) {
        step = tsr_reduction_next(&blocks, &r, tsr_reduction_texels(plan, &blocks, &r));
        pass = add_step(plan, &step, &r, source, source == p->input, padded);
        source = pass->output;
        tsr_reduction_take(&step, &blocks);
    }
    return pass ? pass : tsr_plan_pass_of(plan, TSR_PASS_DRAW, 0);
}

/* The shape that the sums are computed in: of more than four axes only one, in the texel. */
static tsr_shape view_axes(const tsr_node *node, const tsr_shape *shape) {
    int first = 0;
    if (shape->rank <= 4 ||
        tsr_normalize_axis(tsr_attr_int(node, "axis", -1), shape->rank, &first) != TSR_OK)
        return *shape;
    tsr_shape around = tsr_around_axis(shape, first);
    if (!tsr_attr_int(node, "coerce_2d", 0))
        return around;
    return (tsr_shape){2, {around.dim[0], around.dim[1] * around.dim[2]}};
}

tsr_status tsr_lower_softmax(tsr_plan *plan, const tsr_node *node) {
    tsr_reduction r;
    TSR_TRY(find_axes(plan, node, &r));
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape,
                    view = view_axes(node, shape);
    int input = tsr_lower_seen(plan, node->inputs[0], &view);
    const tsr_int_arg logs = TSR_INT(node->op == TSR_OP_LogSoftmax);
    bool others = r.axis[TSR_AXIS_N] || r.axis[TSR_AXIS_H] || r.axis[TSR_AXIS_W];
    if (r.axis[TSR_AXIS_C] && !others && tsr_plan_layout(plan, input)->tiles == 1) {
        int output = tsr_lower_output(plan, node, &view);
        TSR_PASS(plan, output, softmax_tile, .X = TSR_TENSOR(input), .LOGS = logs);
        tsr_lower_finish(plan, node, output);
        return plan->status;
    }
    int sums = tsr_lower_reduction(plan, node, input, reduce_sums)->output,
        output = tsr_lower_output(plan, node, &view);
    TSR_PASS(plan, output, softmax, .X = TSR_TENSOR(input), .sums = TSR_TENSOR(sums), .LOGS = logs,
             .FOLD = TSR_INT(r.axis[TSR_AXIS_C]), .COLUMNS = TSR_INT(r.axis[TSR_AXIS_W]));
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

tsr_status tsr_lower_log_softmax(tsr_plan *plan, const tsr_node *node) {
    return tsr_lower_softmax(plan, node);
}
