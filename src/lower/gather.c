/* GatherElements, Expand, Trilu, CumSum, CumProd. */
#include "lower/lower.h"

#include "base/divide.h"

static bool is_along(const tsr_shape *indices, const tsr_shape *data, int axis) {
    tsr_shape wanted = *data;
    wanted.dim[axis] = indices->dim[axis];
    return tsr_shape_equal(&wanted, indices);
}

/* Of more than four axes: along the channels between what is before and after the axis. */
static tsr_status gather_of_many(tsr_plan *plan, const tsr_node *node, int axis) {
    tsr_shape seen[2];
    int tensors[2];
    for (int i = 0; i < 2; i++) {
        const tsr_shape around = tsr_around_axis(&tsr_node_in(plan->graph, node, i)->shape, axis);
        seen[i] = (tsr_shape){4, {around.dim[0], around.dim[1], 1, around.dim[2]}};
        tensors[i] = tsr_lower_seen(plan, node->inputs[i], &seen[i]);
    }
    int output = tsr_lower_output(plan, node, &seen[1]);
    TSR_PASS(plan, output, gather_elements, .X = TSR_TENSOR(tensors[0]),
             .I = TSR_TENSOR(tensors[1]), .AXIS = TSR_INT(TSR_AXIS_C), .SHARED = TSR_INT(0));
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

tsr_status tsr_lower_gather_elements(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *data = tsr_node_in(plan->graph, node, 0);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), data->shape.rank, &axis));
    if (data->shape.rank > 4 &&
        is_along(&tsr_node_in(plan->graph, node, 1)->shape, &data->shape, axis))
        return gather_of_many(plan, node, axis);
    TSR_TRY(tsr_require_four_axes(data));
    int source = tsr_plan_value(plan, node->inputs[0]),
        indices = tsr_lower_seen(plan, node->inputs[1], &tsr_node_in(plan->graph, node, 1)->shape);
    TSR_PASS(plan, tsr_plan_output(plan, node, 0), gather_elements, .X = TSR_TENSOR(source),
             .I = TSR_TENSOR(indices), .AXIS = TSR_INT(tsr_usual_axis(data->shape.rank, axis)),
             .SHARED = TSR_INT(0));
    return plan->status;
}

tsr_status tsr_lower_expand(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_out(plan->graph, node, 0)->shape;
    int operand = tsr_plan_operand(plan, node->inputs[0], shape);
    tsr_plan_copy(plan, operand, tsr_plan_output(plan, node, 0));
    return plan->status;
}

/* Matrices as images. */
tsr_status tsr_lower_trilu(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int rank = shape->rank;
    const tsr_shape images = {4,
                              {1, tsr_dim_product(shape, 0, rank - 2), shape->dim[rank - 2],
                               shape->dim[rank - 1]}},
                    seen = rank == 4 ? *shape : images;
    int64_t diagonal;
    TSR_TRY(tsr_node_diagonal(plan->graph, node, &diagonal));
    int input = tsr_lower_seen(plan, node->inputs[0], &seen),
        output = tsr_lower_output(plan, node, &seen);
    TSR_PASS(plan, output, trilu, .X = TSR_TENSOR(input),
             .UPPER = TSR_INT(tsr_attr_int(node, "upper", 1) != 0), .diagonal = TSR_INT(diagonal));
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

/* Along the channels between what is before and after the axis. */
tsr_status tsr_lower_cum_sum(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int axis;
    TSR_TRY(tsr_node_cum_sum_axis(plan->graph, node, &axis));
    const tsr_shape around = tsr_around_axis(shape, axis),
                    seen = {4, {around.dim[0], around.dim[1], 1, around.dim[2]}};
    int input = tsr_lower_seen(plan, node->inputs[0], &seen),
        output = tsr_lower_output(plan, node, &seen);
    bool exclusive = tsr_attr_int(node, "exclusive", 0) != 0,
         reverse = tsr_attr_int(node, "reverse", 0) != 0;
    if (node->op == TSR_OP_CumProd)
        TSR_PASS(plan, output, cum_prod, .X = TSR_TENSOR(input), .EXCLUSIVE = TSR_INT(exclusive),
                 .REVERSE = TSR_INT(reverse));
    else
        TSR_PASS(plan, output, cum_sum, .X = TSR_TENSOR(input), .EXCLUSIVE = TSR_INT(exclusive),
                 .REVERSE = TSR_INT(reverse));
    tsr_plan_loops(plan, 1, 1, (int64_t[]){tsr_divide_up(seen.dim[1], 4)});
    tsr_lower_finish(plan, node, output);
    return plan->status;
}
