/* Data movement of tensors of more than four axes: one axis at a time, seen between all those
 * before it and all those after it. src/passes/split_transpose.c does the same for Transpose. */
#include "lower/lower.h"

tsr_shape tsr_around_axis(const tsr_shape *shape, int axis) {
    return (tsr_shape){3,
                       {tsr_dim_product(shape, 0, axis), shape->dim[axis],
                        tsr_dim_product(shape, axis + 1, shape->rank)}};
}

void tsr_lower_reshaped(tsr_plan *plan, const tsr_node *node, int i, int tensor) {
    tsr_plan_alias(plan, node, i,
                   tsr_plan_reshape(plan, tensor, &tsr_node_out(plan->graph, node, i)->shape));
}

static int copy_axis(tsr_plan *plan, int tensor, tsr_shape *shape, int axis, int64_t size,
                     const tsr_strided_copy *copy) {
    const tsr_shape from = tsr_around_axis(shape, axis);
    tsr_strided_copy one = tsr_identity_copy(3);
    one.pad = copy->pad;
    one.value = copy->value;
    one.step[1] = copy->step[axis];
    one.start[1] = copy->start[axis];
    shape->dim[axis] = size;
    const tsr_shape to = tsr_around_axis(shape, axis);
    int source = tsr_plan_reshape(plan, tensor, &from),
        output = one.pad ? tsr_plan_tensor_computed(plan, &to, source)
                         : tsr_plan_tensor_moved(plan, &to, source);
    tsr_lower_strided_copy(plan, source, output, &one);
    return output;
}

void tsr_lower_axes_copy(tsr_plan *plan, const tsr_node *node, int i,
                         const tsr_strided_copy *copy) {
    tsr_shape shape = tsr_node_in(plan->graph, node, 0)->shape;
    const tsr_shape result = tsr_node_out(plan->graph, node, i)->shape;
    int tensor = tsr_plan_value(plan, node->inputs[0]);
    if (shape.rank <= 4) {
        tsr_lower_strided_copy(plan, tensor, tsr_plan_output(plan, node, i), copy);
        return;
    }
    for (int axis = 0; axis < shape.rank; axis++)
        if (shape.dim[axis] != result.dim[axis] || copy->step[axis] != 1 || copy->start[axis])
            tensor = copy_axis(plan, tensor, &shape, axis, result.dim[axis], copy);
    tsr_lower_reshaped(plan, node, i, tensor);
}
