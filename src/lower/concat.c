/* Concat and Split. */
#include "lower/lower.h"

#include "base/error.h"

enum { CONCAT_SOURCES = 4 };

/* One pass over up to four tensors. */
static void lower_concat(tsr_plan *plan, const int *sources, int count, const int64_t *sizes,
                         int axis, int output) {
    int begins[CONCAT_SOURCES] = {0}, begin = 0;
    bool whole = true;
    for (int i = 0; i < count; i++) {
        begins[i] = begin;
        whole = whole && (axis != TSR_AXIS_C || begin % 4 == 0);
        begin += (int)sizes[i];
    }
    for (int i = 0; i < count && whole && axis == TSR_AXIS_C; i++)
        begins[i] /= 4;
    tsr_tensor_arg inputs[CONCAT_SOURCES] = {{false, 0}};
    for (int i = 0; i < count; i++)
        inputs[i] = TSR_TENSOR(sources[i]);
    TSR_PASS(plan, output, concat, .A = inputs[0], .B = inputs[1], .C = inputs[2], .D = inputs[3],
             .AXIS = TSR_INT(axis), .WHOLE = TSR_INT(whole), .begin_b = TSR_INT(begins[1]),
             .begin_c = TSR_INT(begins[2]), .begin_d = TSR_INT(begins[3]));
}

/* Output 0 as whole tiles of the inputs, one after the other; false if that is not what it is. */
static bool join_tiles(tsr_plan *plan, const tsr_node *node, int axis) {
    int layout_axis = tsr_usual_axis(tsr_node_out(plan->graph, node, 0)->shape.rank, axis);
    int count = 0, tiles = 0, channels = 0;
    tsr_concat_operand *parts = TSR_NEW(plan->arena, node->input_count, tsr_concat_operand);
    if (!parts) {
        tsr_plan_out_of_memory(plan);
        return false;
    }
    for (int i = 0; i < node->input_count; i++) {
        if (tsr_node_in(plan->graph, node, i)->shape.dim[axis] == 0)
            continue;
        const tsr_layout *l = tsr_plan_layout(plan, tsr_plan_value(plan, node->inputs[i]));
        if (layout_axis != TSR_AXIS_N &&
            (layout_axis != TSR_AXIS_C || l->n > 1 || channels % 4 != 0))
            return false;
        parts[count++] = (tsr_concat_operand){node->inputs[i], tiles};
        tiles += l->n * l->tiles;
        channels += l->c;
    }
    return tsr_plan_concat_in_place(plan, node, parts, count);
}

tsr_status tsr_lower_concat(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_out(plan->graph, node, 0)->shape;
    int sources[CONCAT_SOURCES], count = 0, axis;
    int64_t sizes[CONCAT_SOURCES], total = 0;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis));
    bool around = shape->rank > 4 && axis > 1; /* an axis that folds with others */
    if (!around && join_tiles(plan, node, axis))
        return plan->status;
    int layout_axis = around ? TSR_AXIS_C : tsr_usual_axis(shape->rank, axis);
    for (int i = 0; i < node->input_count; i++) {
        const tsr_shape *part = &tsr_node_in(plan->graph, node, i)->shape;
        if (part->dim[axis] == 0)
            continue;
        if (count ==
            CONCAT_SOURCES) { /* what there is so far becomes the first source of the next pass */
            tsr_shape partial = *shape;
            partial.dim[axis] = total;
            if (around)
                partial = tsr_around_axis(&partial, axis);
            int joined = tsr_plan_tensor_like(plan, &partial, node->outputs[0]);
            lower_concat(plan, sources, count, sizes, layout_axis, joined);
            sources[0] = joined;
            sizes[0] = total;
            count = 1;
        }
        const tsr_shape seen = around ? tsr_around_axis(part, axis) : *part;
        sources[count] = tsr_lower_seen(plan, node->inputs[i], &seen);
        sizes[count++] = part->dim[axis];
        total += part->dim[axis];
    }
    const tsr_shape whole = around ? tsr_around_axis(shape, axis) : *shape;
    int output = around ? tsr_plan_tensor_like(plan, &whole, node->outputs[0])
                        : tsr_plan_output(plan, node, 0);
    lower_concat(plan, sources, count, sizes, layout_axis, output);
    if (around)
        tsr_lower_reshaped(plan, node, 0, output);
    return plan->status;
}

/* The tile of input 0 at which output i begins; TSR_NONE if it is not whole tiles, one after the
 * other. */
static int first_tile(const tsr_plan *plan, const tsr_node *node, int i, const tsr_layout *l,
                      const tsr_strided_copy *copy) {
    const tsr_shape *in = &tsr_node_in(plan->graph, node, 0)->shape,
                    *out = &tsr_node_out(plan->graph, node, i)->shape;
    int axis = TSR_NONE;
    for (int a = 0; a < in->rank; a++) {
        if (in->dim[a] == out->dim[a] && copy->step[a] == 1)
            continue;
        if (axis != TSR_NONE || copy->step[a] != 1)
            return TSR_NONE;
        axis = a;
    }
    if (axis == TSR_NONE || in->rank > 4 || node->post_count)
        return TSR_NONE;
    int64_t begin = copy->start[axis], end = begin + out->dim[axis];
    if (tsr_usual_axis(in->rank, axis) == TSR_AXIS_N)
        return (int)begin * l->tiles;
    bool whole = begin % 4 == 0 && (end % 4 == 0 || end == in->dim[axis]);
    return tsr_usual_axis(in->rank, axis) == TSR_AXIS_C && l->n == 1 && whole ? (int)begin / 4
                                                                              : TSR_NONE;
}

void tsr_lower_part(tsr_plan *plan, const tsr_node *node, int i, const tsr_strided_copy *copy) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    int tile = first_tile(plan, node, i, tsr_plan_layout(plan, input), copy);
    int part = tile == TSR_NONE ? 0 : tsr_plan_output_part(plan, node, i, input, tile);
    if (!part) {
        tsr_lower_axes_copy(plan, node, i, copy);
        return;
    }
    tsr_lower_strided_copy(plan, input, part, copy);
    tsr_plan_split_pass(plan, tile);
}

tsr_status tsr_lower_split(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis));
    tsr_strided_copy copy = tsr_identity_copy(shape->rank);
    for (int i = 0; i < node->output_count; i++) {
        const tsr_value *out = tsr_node_out(plan->graph, node, i);
        if (!out)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "output %d of Split is missing", i);
        if (tsr_shape_count(&out->shape) > 0)
            tsr_lower_part(plan, node, i, &copy);
        copy.start[axis] += out->shape.dim[axis];
    }
    return plan->status;
}
