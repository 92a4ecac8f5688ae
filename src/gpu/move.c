/* Operators that move elements and compute nothing. */
#include "gpu/lower.h"

#include "base/error.h"

#include <string.h>

/* The input's axis a of N, C, H, W, or TSR_NONE if it has none. */
static int axis_of(int rank, int a) {
    for (int i = 0; i < rank; i++)
        if (tsr_layout_axes(rank)[i] == a)
            return i;
    return TSR_NONE;
}

void tsr_lower_move(tsr_plan *plan, int source, int output, const tsr_move *move) {
    int feeds[4] = {0}, steps[4] = {0}, starts[4] = {0};
    for (int a = 0; a < 4; a++) {
        int in = axis_of(move->rank_in, a);
        if (in == TSR_NONE || move->feeds[in] == TSR_NONE)
            continue;
        feeds[a] = tsr_layout_axes(move->rank_out)[move->feeds[in]];
        steps[a] = (int)move->step[in];
        starts[a] = (int)move->start[in];
    }
    bool same_channels = tsr_plan_layout(plan, source)->c == tsr_plan_layout(plan, output)->c;
    bool whole = feeds[TSR_AXIS_C] == TSR_AXIS_C && steps[TSR_AXIS_C] == 1 &&
                 starts[TSR_AXIS_C] % 4 == 0 &&
                 (!move->pad || (starts[TSR_AXIS_C] == 0 && same_channels));
    if (whole)
        starts[TSR_AXIS_C] /= 4;
    tsr_pass *pass = tsr_plan_pass(plan, "gather", output);
    tsr_pass_source(plan, pass, source);
    tsr_pass_define(pass, "WHOLE", whole);
    tsr_pass_define(pass, "PAD", move->pad);
    tsr_pass_ints(pass, "feeds", feeds[0], feeds[1], feeds[2], feeds[3]);
    tsr_pass_ints(pass, "steps", steps[0], steps[1], steps[2], steps[3]);
    tsr_pass_ints(pass, "starts", starts[0], starts[1], starts[2], starts[3]);
    tsr_pass_floats(pass, "value", move->value, 0, 0, 0);
}

/* Every axis fed by itself. */
static tsr_move straight(int rank) {
    tsr_move move = {.rank_in = rank, .rank_out = rank};
    for (int i = 0; i < rank; i++) {
        move.feeds[i] = i;
        move.step[i] = 1;
    }
    return move;
}

tsr_status tsr_lower_transpose(tsr_plan *plan, const tsr_node *node) {
    int rank = tsr_node_in(plan->graph, node, 0)->shape.rank, count;
    const int64_t *perm = tsr_attr_ints(node, "perm", &count);
    tsr_move move = straight(rank);
    for (int i = 0; i < rank; i++)
        move.feeds[perm ? perm[i] : rank - 1 - i] = i;
    tsr_lower_move(plan, tsr_plan_value(plan, node->inputs[0]), tsr_plan_output(plan, node, 0),
                   &move);
    return plan->status;
}

tsr_status tsr_lower_slice(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    tsr_slice slice;
    TSR_TRY(tsr_node_slice(plan->graph, node, &slice));
    tsr_move move = straight(shape->rank);
    memcpy(move.step, slice.step, sizeof move.step);
    memcpy(move.start, slice.start, sizeof move.start);
    tsr_lower_move(plan, tsr_plan_value(plan, node->inputs[0]), tsr_plan_output(plan, node, 0),
                   &move);
    return plan->status;
}

tsr_status tsr_lower_split(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis));
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_move move = straight(shape->rank);
    for (int i = 0; i < node->output_count; i++) {
        const tsr_value *out = tsr_node_out(plan->graph, node, i);
        if (!out)
            return tsr_fail(TSR_INVALID_MODEL, "output %d of Split is missing", i);
        if (tsr_shape_count(&out->shape) > 0)
            tsr_lower_move(plan, input, tsr_plan_output(plan, node, i), &move);
        move.start[axis] += out->shape.dim[axis];
    }
    return plan->status;
}

tsr_status tsr_lower_pad(tsr_plan *plan, const tsr_node *node) {
    static const char *const modes[] = {"", "constant", "reflect", "edge"};
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    const char *mode = tsr_attr_string(node, "mode", "constant");
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    TSR_TRY(tsr_node_pads(plan->graph, node, begin, end));
    tsr_move move = straight(shape->rank);
    for (int i = 1; i < 4; i++)
        if (!strcmp(mode, modes[i]))
            move.pad = i;
    for (int i = 0; i < shape->rank; i++)
        move.start[i] = -begin[i];
    move.value = tsr_const_float(plan->graph, node, 2, 0);
    tsr_lower_move(plan, tsr_plan_value(plan, node->inputs[0]), tsr_plan_output(plan, node, 0),
                   &move);
    return plan->status;
}

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
    tsr_pass *pass = tsr_plan_pass(plan, "concat", output);
    for (int i = 0; i < count; i++) {
        tsr_pass_source(plan, pass, sources[i]);
        if (whole && axis == TSR_AXIS_C)
            begins[i] /= 4;
    }
    tsr_pass_define(pass, "SOURCES", count);
    tsr_pass_define(pass, "AXIS", axis);
    tsr_pass_define(pass, "WHOLE", whole);
    tsr_pass_ints(pass, "begins", begins[1], begins[2], begins[3], 0);
}

/* Output 0 as whole tiles of the inputs, one behind the other; false if that is not what it is. */
static bool join_tiles(tsr_plan *plan, const tsr_node *node, int axis) {
    int layout_axis = tsr_layout_axes(tsr_node_out(plan->graph, node, 0)->shape.rank)[axis];
    int count = 0, tiles = 0, channels = 0;
    tsr_joined *parts = TSR_NEW(plan->arena, node->input_count, tsr_joined);
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
        parts[count++] = (tsr_joined){node->inputs[i], tiles};
        tiles += l->n * l->tiles;
        channels += l->c;
    }
    return tsr_plan_join(plan, node, parts, count);
}

tsr_status tsr_lower_concat(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_out(plan->graph, node, 0)->shape;
    int sources[CONCAT_SOURCES], count = 0, axis;
    int64_t sizes[CONCAT_SOURCES], total = 0;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis));
    if (join_tiles(plan, node, axis))
        return plan->status;
    int layout_axis = tsr_layout_axes(shape->rank)[axis];
    for (int i = 0; i < node->input_count; i++) {
        const tsr_shape *part = &tsr_node_in(plan->graph, node, i)->shape;
        if (part->dim[axis] == 0)
            continue;
        if (count ==
            CONCAT_SOURCES) { /* what there is so far becomes the first source of the next pass */
            tsr_shape partial = *shape;
            partial.dim[axis] = total;
            int joined = tsr_plan_tensor_new(plan, &partial, false);
            lower_concat(plan, sources, count, sizes, layout_axis, joined);
            sources[0] = joined;
            sizes[0] = total;
            count = 1;
        }
        sources[count] = tsr_plan_value(plan, node->inputs[i]);
        sizes[count++] = part->dim[axis];
        total += part->dim[axis];
    }
    lower_concat(plan, sources, count, sizes, layout_axis, tsr_plan_output(plan, node, 0));
    return plan->status;
}

static tsr_status lower_blocks(tsr_plan *plan, const tsr_node *node, const char *kernel) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass *pass = tsr_plan_pass(plan, kernel, tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_define(pass, "DCR", tsr_depth_comes_first(node));
    tsr_pass_ints(pass, "block", (int)tsr_attr_int(node, "blocksize", 1), 0, 0, 0);
    return plan->status;
}

tsr_status tsr_lower_depth_to_space(tsr_plan *plan, const tsr_node *node) {
    return lower_blocks(plan, node, "depth_to_space");
}

tsr_status tsr_lower_space_to_depth(tsr_plan *plan, const tsr_node *node) {
    return lower_blocks(plan, node, "space_to_depth");
}

typedef struct take_table {
    const int64_t *indices;
    int64_t count, size; /* size: of the axis, for negative indices */
} take_table;

static void fill_take(const void *data, float *texels) {
    const take_table *t = data;
    for (int64_t i = 0; i < t->count; i++)
        texels[i * 4] = (float)(t->indices[i] < 0 ? t->indices[i] + t->size : t->indices[i]);
}

static void lower_take(tsr_plan *plan, int source, int axis, const take_table *table, int output) {
    tsr_pass *pass = tsr_plan_pass(plan, "take", output);
    tsr_pass_table(plan, pass, fill_take, table, sizeof *table);
    tsr_pass_source(plan, pass, source);
    tsr_pass_define(pass, "AXIS", axis);
    tsr_pass_ints(pass, "width", tsr_table_blocks(plan, pass, 1, table->count), 0, 0, 0);
}

tsr_status tsr_lower_gather(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *data = tsr_node_in(plan->graph, node, 0),
                    *out = tsr_node_out(plan->graph, node, 0);
    take_table table = {0};
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), data->shape.rank, &axis));
    const tsr_value *indices =
        tsr_node_in(plan->graph, node, 1); /* constant integers of any shape */
    table.indices = indices->data;
    table.count = tsr_shape_count(&indices->shape);
    table.size = data->shape.dim[axis];
    for (int64_t i = 0; i < table.count; i++)
        if (table.indices[i] < -table.size || table.indices[i] >= table.size)
            return tsr_fail(TSR_INVALID_MODEL, "index %lld is outside axis %d of %s",
                            (long long)table.indices[i], axis, tsr_shape_text(&data->shape));
    if (table.size > TSR_EXACT_FLOATS)
        return tsr_fail(TSR_UNSUPPORTED,
                        "indices along the %lld elements of axis %d of %s are not "
                        "exact in floats",
                        (long long)table.size, axis, tsr_shape_text(&data->shape));
    tsr_shape shape =
        data->shape; /* all indices along one axis; the output's shape is made of it */
    shape.dim[axis] = table.count;
    int source = tsr_plan_value(plan, node->inputs[0]),
        layout_axis = tsr_layout_axes(shape.rank)[axis];
    if (tsr_shape_equal(&shape, &out->shape)) {
        lower_take(plan, source, layout_axis, &table, tsr_plan_output(plan, node, 0));
        return plan->status;
    }
    int taken = tsr_plan_tensor_new(plan, &shape, false);
    lower_take(plan, source, layout_axis, &table, taken);
    tsr_plan_alias(plan, node, 0, tsr_plan_reshape(plan, taken, &out->shape));
    return plan->status;
}

static bool is_read_by_node(const tsr_graph *graph, int value) {
    for (int i = 0; i < graph->node_count; i++)
        if (tsr_node_count_reads(&graph->nodes[i], value))
            return true;
    return false;
}

/* Will the tensor's elements be read in their order alone, however the texels lie? */
static bool is_only_read_back(const tsr_plan *plan, int value, int tensor) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    bool computed = !t->constant && t->first_pass >= 0;
    return computed && !plan->plain_outputs && tsr_graph_is_output(plan->graph, value) &&
           !is_read_by_node(plan->graph, value);
}

/* The input's elements in the output's shape. */
tsr_status tsr_lower_view(tsr_plan *plan, const tsr_node *node) {
    int tensor = tsr_plan_value(plan, node->inputs[0]);
    if (!is_only_read_back(plan, node->outputs[0], tensor))
        tensor = tsr_plan_reshape(plan, tensor, &tsr_node_out(plan->graph, node, 0)->shape);
    tsr_plan_alias(plan, node, 0, tensor);
    return plan->status;
}

tsr_status tsr_lower_dropout(tsr_plan *plan, const tsr_node *node) {
    return tsr_lower_view(plan, node);
}

tsr_status tsr_lower_cast(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *in = tsr_node_in(plan->graph, node, 0),
                    *out = tsr_node_out(plan->graph, node, 0);
    if (!tsr_dtype_is_float(in->dtype) || !tsr_dtype_is_float(out->dtype))
        return tsr_fail(TSR_UNSUPPORTED, "a cast of computed %s to %s", tsr_dtype_name(in->dtype),
                        tsr_dtype_name(out->dtype));
    return tsr_lower_view(plan, node);
}
