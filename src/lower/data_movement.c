/* Slice, Pad, DepthToSpace, SpaceToDepth and Gather: elements move, nothing is computed. */
#include "lower/lower.h"

#include "base/error.h"

#include <string.h>

/* The input's axis a of N, C, H, W, or TSR_NONE if it has none. */
static int axis_of(int rank, int a) {
    for (int i = 0; i < rank; i++)
        if (tsr_usual_axis(rank, i) == a)
            return i;
    return TSR_NONE;
}

void tsr_lower_strided_copy(tsr_plan *plan, int source, int output, const tsr_strided_copy *copy) {
    int source_axes[4] = {0}, steps[4] = {0}, starts[4] = {0};
    for (int a = 0; a < 4; a++) {
        int in = axis_of(copy->rank_in, a);
        if (in == TSR_NONE || copy->source_axis[in] == TSR_NONE)
            continue;
        source_axes[a] = tsr_usual_axis(copy->rank_out, copy->source_axis[in]);
        steps[a] = (int)copy->step[in];
        starts[a] = (int)copy->start[in];
    }
    bool same_channels = tsr_plan_layout(plan, source)->c == tsr_plan_layout(plan, output)->c;
    bool whole = source_axes[TSR_AXIS_C] == TSR_AXIS_C && steps[TSR_AXIS_C] == 1 &&
                 starts[TSR_AXIS_C] % 4 == 0 &&
                 (!copy->pad || (starts[TSR_AXIS_C] == 0 && same_channels));
    if (whole)
        starts[TSR_AXIS_C] /= 4;
    TSR_PASS(plan, output, strided_copy, .X = TSR_TENSOR(source), .WHOLE = TSR_INT(whole),
             .PAD = TSR_INT(copy->pad), .FROM_N = TSR_INT(source_axes[TSR_AXIS_N]),
             .FROM_C = TSR_INT(source_axes[TSR_AXIS_C]), .FROM_H = TSR_INT(source_axes[TSR_AXIS_H]),
             .FROM_W = TSR_INT(source_axes[TSR_AXIS_W]), .steps = tsr_axes_args(steps),
             .starts = tsr_axes_args(starts), .value = TSR_FLOAT(copy->value));
}

tsr_strided_copy tsr_identity_copy(int rank) {
    tsr_strided_copy copy = {.rank_in = rank, .rank_out = rank};
    for (int i = 0; i < rank; i++) {
        copy.source_axis[i] = i;
        copy.step[i] = 1;
    }
    return copy;
}

tsr_status tsr_lower_slice(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    tsr_slice slice;
    TSR_TRY(tsr_node_slice(plan->graph, node, &slice));
    tsr_strided_copy copy = tsr_identity_copy(shape->rank);
    memcpy(copy.step, slice.step, sizeof copy.step);
    memcpy(copy.start, slice.start, sizeof copy.start);
    tsr_lower_part(plan, node, 0, &copy);
    return plan->status;
}

tsr_status tsr_lower_pad(tsr_plan *plan, const tsr_node *node) {
    static const char *const modes[] = {"", "constant", "reflect", "edge"};
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    const char *mode = tsr_attr_string(node, "mode", "constant");
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    TSR_TRY(tsr_node_pads(plan->graph, node, begin, end));
    tsr_strided_copy copy = tsr_identity_copy(shape->rank);
    for (int i = 1; i < 4; i++)
        if (!strcmp(mode, modes[i]))
            copy.pad = i;
    for (int i = 0; i < shape->rank; i++)
        copy.start[i] = -begin[i];
    copy.value = tsr_const_number(plan->graph, node, 2, 0);
    tsr_lower_axes_copy(plan, node, 0, &copy);
    return plan->status;
}

tsr_status tsr_lower_depth_to_space(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]), output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, depth_to_space, .X = TSR_TENSOR(input),
             .DCR = TSR_INT(tsr_depth_comes_first(node)),
             .blocksize = TSR_INT(tsr_attr_int(node, "blocksize", 1)));
    return plan->status;
}

tsr_status tsr_lower_space_to_depth(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]), output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, space_to_depth, .X = TSR_TENSOR(input),
             .blocksize = TSR_INT(tsr_attr_int(node, "blocksize", 1)));
    return plan->status;
}

typedef struct gather_table {
    const int64_t *indices;
    int64_t count, size; /* size: of the axis, for negative indices */
} gather_table;

static void fill_gather(const void *data, int64_t first, int64_t count, float *texels) {
    const gather_table *t = data;
    for (int64_t i = first; i < first + count; i++)
        texels[i * 4] = (float)(t->indices[i] < 0 ? t->indices[i] + t->size : t->indices[i]);
}

static void lower_gather(tsr_plan *plan, int source, int axis, const gather_table *table,
                         int output) {
    tsr_table_size size = tsr_table_entries(plan, TSR_TABLE_F32, 1, table->count);
    tsr_pass *pass = TSR_PASS(plan, output, gather, .X = TSR_TENSOR(source), .AXIS = TSR_INT(axis),
                              .width_log2 = TSR_INT(size.entries_log2));
    const tsr_table lookup = {
        .pack = fill_gather, .units = table->count, .width = size.width, .height = size.height};
    tsr_pass_table(plan, pass, &lookup, table, sizeof *table);
}

/* By indices that are computed: all of them one list, the axis between those before and after it.
 */
static tsr_status gather_computed(tsr_plan *plan, const tsr_node *node, int axis) {
    const tsr_shape from = tsr_around_axis(&tsr_node_in(plan->graph, node, 0)->shape, axis),
                    list = {3, {1, tsr_shape_count(&tsr_node_in(plan->graph, node, 1)->shape), 1}},
                    to = {3, {from.dim[0], list.dim[1], from.dim[2]}};
    int source = tsr_lower_seen(plan, node->inputs[0], &from),
        indices = tsr_lower_seen(plan, node->inputs[1], &list),
        output = tsr_lower_output(plan, node, &to);
    TSR_PASS(plan, output, gather_channels, .X = TSR_TENSOR(source), .I = TSR_TENSOR(indices));
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

tsr_status tsr_lower_gather(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *data = tsr_node_in(plan->graph, node, 0),
                    *out = tsr_node_out(plan->graph, node, 0);
    gather_table table = {0};
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), data->shape.rank, &axis));
    const tsr_value *indices = tsr_node_in(plan->graph, node, 1);
    table.indices = indices->data;
    table.count = tsr_shape_count(&indices->shape);
    table.size = data->shape.dim[axis];
    if (table.size > TSR_EXACT_FLOATS)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "indices along the %lld elements of axis %d of %s are not "
                        "exact in floats",
                        (long long)table.size, axis, tsr_shape_text(&data->shape));
    if (!indices->data)
        return gather_computed(plan, node, axis);
    for (int64_t i = 0; i < table.count; i++)
        if (table.indices[i] < -table.size || table.indices[i] >= table.size)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "index %lld is outside axis %d of %s",
                            (long long)table.indices[i], axis, tsr_shape_text(&data->shape));
    tsr_shape shape =
        data->shape; /* all indices along one axis; the output's shape is made of it */
    shape.dim[axis] = table.count;
    bool around = shape.rank > 4;
    tsr_shape from = around ? tsr_around_axis(&data->shape, axis) : data->shape;
    int source = tsr_lower_seen(plan, node->inputs[0], &from),
        layout_axis = around ? TSR_AXIS_C : tsr_usual_axis(shape.rank, axis);
    if (around)
        shape = tsr_around_axis(&shape, axis);
    if (tsr_shape_equal(&shape, &out->shape)) {
        lower_gather(plan, source, layout_axis, &table, tsr_plan_output(plan, node, 0));
        return plan->status;
    }
    int gathered = tsr_plan_tensor_like(plan, &shape, node->outputs[0]);
    lower_gather(plan, source, layout_axis, &table, gathered);
    tsr_plan_alias(plan, node, 0, tsr_plan_reshape(plan, gathered, &out->shape));
    return plan->status;
}
