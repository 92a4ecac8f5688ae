/* Operands that are broadcast: seen with the axes of the result; single numbers are parameters. */
#include "plan/plan.h"

#include <string.h>

/* Where several axes fold into one, broadcasting takes all of them or none. */
static bool folds_alike(const tsr_shape *operand, const tsr_shape *result, int axis) {
    const tsr_shape a = tsr_layout_fold(operand, axis), b = tsr_layout_fold(result, axis);
    for (int i = 0; i < 4; i++)
        if (a.dim[i] != 1 && a.dim[i] != b.dim[i])
            return false;
    return true;
}

int tsr_plan_expand(tsr_plan *plan, int tensor, const tsr_shape *shape, const tsr_shape *result) {
    tsr_shape have = *shape;
    for (int i = 0, end; i < have.rank; i = end) {
        end = i + 1;
        if (have.dim[i] == result->dim[i])
            continue;
        while (end < have.rank && have.dim[end] != result->dim[end])
            end++;
        int64_t before = tsr_dim_product(&have, 0, i),
                after = tsr_dim_product(&have, end, have.rank);
        const tsr_shape from = {3, {before, 1, after}},
                        to = {3, {before, tsr_dim_product(result, i, end), after}};
        int narrow = tsr_plan_reshape(plan, tensor, &from);
        tensor = tsr_plan_tensor_moved(plan, &to, narrow);
        tsr_plan_copy(plan, narrow, tensor);
        for (int k = i; k < end; k++)
            have.dim[k] = result->dim[k];
    }
    return tsr_plan_reshape(plan, tensor, result);
}

tsr_shape tsr_operand_shape(const tsr_shape *shape, int rank) {
    tsr_shape seen = {.rank = rank};
    int ones = rank - shape->rank;
    for (int i = 0; i < rank; i++)
        seen.dim[i] = i < ones ? 1 : shape->dim[i - ones];
    return seen;
}

int tsr_plan_operand(tsr_plan *plan, int value, const tsr_shape *result) {
    const tsr_value *v = &plan->graph->values[value];
    int axis = plan->axis;
    if (v->shape.rank >= result->rank && !v->data && folds_alike(&v->shape, result, axis))
        return tsr_plan_value_with(plan, value, axis);
    const tsr_shape shape = tsr_operand_shape(&v->shape, result->rank);
    bool alike = folds_alike(&shape, result, axis);
    const tsr_shape folded = tsr_layout_fold(alike ? &shape : result, axis);
    if (alike && v->data)
        return tsr_plan_constant_value(plan, v, &folded);
    int tensor = tsr_plan_value_as_is(plan, value);
    if (plan->status == TSR_OK && !alike)
        tensor = tsr_plan_expand(plan, tensor, &shape, result);
    return plan->status == TSR_OK ? tsr_plan_reshape(plan, tensor, &folded) : 0;
}

/* ---- constant numbers ------------------------------------------------------------------------ */

bool tsr_plan_number(const tsr_plan *plan, int value, float *number) {
    const tsr_value *v = &plan->graph->values[value];
    if (!v->data || !tsr_dtype_is_float(v->dtype) || tsr_shape_count(&v->shape) != 1)
        return false;
    memcpy(number, v->data, sizeof *number);
    return true;
}

const char *tsr_plan_number_function(const tsr_plan *plan, tsr_op op, int operand, float *number) {
    if (!tsr_plan_number(plan, operand, number))
        return NULL;
    switch (op) {
    case TSR_OP_Add:
        return "add_number";
    case TSR_OP_Sub:
        return "sub_number";
    case TSR_OP_Mul:
        return "mul_number";
    case TSR_OP_Div:
        return "div_number";
    case TSR_OP_Pow:
        return *number == 2 ? "square" : NULL;
    default:
        return NULL;
    }
}
