/* Elements by tuples of indices, and scattering: a fragment cannot choose where it writes, so that
 * each looks for the updates of its own element, in their order. */
#include "lower/lower.h"

#include "base/divide.h"
#include "base/error.h"

/* Is anything updated? If not, the result is the data. */
static bool has_updates(const tsr_plan *plan, const tsr_node *node, int updates) {
    return tsr_shape_count(&tsr_node_in(plan->graph, node, updates)->shape) != 0;
}

/* ---- tuples ---- */

/* The axes that tuples of indices choose from. */
typedef struct tuple_axes {
    int count;
    int64_t size[TSR_MAX_RANK], step[TSR_MAX_RANK]; /* step: elements from one index to the next */
} tuple_axes;

static void fill_axes(const void *data, int64_t unit, int64_t count, float *texels) {
    const tuple_axes *axes = data;
    (void)unit, (void)count;
    for (int i = 0; i < axes->count; i++) {
        texels[i * 4] = (float)axes->size[i];
        texels[i * 4 + 1] = (float)axes->step[i];
    }
}

/* Data of a node with tuples, its axes seen as one between those before and those after them. */
typedef struct choice {
    tuple_axes axes;
    int64_t batches, elements, block, tuples; /* elements: to choose from; block: of each of them */
} choice;

static tsr_status read_choice(const tsr_plan *plan, const tsr_node *node, int first, choice *c) {
    const tsr_shape *data = &tsr_node_in(plan->graph, node, 0)->shape,
                    *indices = &tsr_node_in(plan->graph, node, 1)->shape;
    int count = (int)indices->dim[indices->rank - 1];
    if (count == 0)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "empty tuples of indices");
    *c = (choice){.axes.count = count,
                  .batches = tsr_dim_product(data, 0, first),
                  .elements = tsr_dim_product(data, first, first + count),
                  .block = tsr_dim_product(data, first + count, data->rank),
                  .tuples = tsr_dim_product(indices, first, indices->rank - 1)};
    for (int i = 0; i < count; i++) {
        c->axes.size[i] = data->dim[first + i];
        c->axes.step[i] = tsr_dim_product(data, first + i + 1, first + count);
    }
    if (c->elements <= tsr_plan_exact_integers(plan))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "indices into %lld elements are not exact in this GPU's floats",
                    (long long)c->elements);
}

/* [batches, tuples, 1, 1]: indices into the axes seen as one. */
static int flatten_tuples(tsr_plan *plan, const tsr_node *node, const choice *c) {
    const tsr_shape from = {4, {c->batches, c->tuples, 1, c->axes.count}},
                    to = {4, {c->batches, c->tuples, 1, 1}};
    int tuples = tsr_lower_seen(plan, node->inputs[1], &from),
        flat = tsr_plan_tensor_new(plan, &to, true);
    tsr_pass *pass = TSR_PASS(plan, flat, flat_index, .I = TSR_TENSOR(tuples));
    const tsr_table lookup = {
        .pack = fill_axes, .units = 1, .width = c->axes.count, .height = 1, .dense = false};
    tsr_pass_table(plan, pass, &lookup, &c->axes, sizeof c->axes);
    return flat;
}

tsr_status tsr_lower_gather_nd(tsr_plan *plan, const tsr_node *node) {
    choice c;
    TSR_TRY(read_choice(plan, node, (int)tsr_attr_int(node, "batch_dims", 0), &c));
    const tsr_shape from = {4, {c.batches, c.elements, 1, c.block}},
                    to = {4, {c.batches, c.tuples, 1, c.block}};
    int source = tsr_lower_seen(plan, node->inputs[0], &from),
        indices = flatten_tuples(plan, node, &c), output = tsr_lower_output(plan, node, &to);
    TSR_PASS(plan, output, gather_elements, .X = TSR_TENSOR(source), .I = TSR_TENSOR(indices),
             .AXIS = TSR_INT(TSR_AXIS_C), .SHARED = TSR_INT(1));
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

/* ---- scattering ---- */

typedef struct scatter {
    int data, indices, updates; /* tensors: indices along the channels */
    bool shared;                /* one column of indices for all */
    tsr_shape seen;             /* of data and result */
    int64_t count;              /* indices of a column */
} scatter;

/* Fragments of a large tensor that each look at many updates would stop the GPU for seconds. */
static tsr_status check_scatter(const tsr_plan *plan, const tsr_node *node, const scatter *s,
                                tsr_scatter_reduction *reduction) {
    const tsr_value *data = tsr_node_in(plan->graph, node, 0);
    const double most = 0x1p31;
    TSR_TRY(tsr_node_scatter_reduction(node, reduction));
    bool adds = *reduction == TSR_SCATTER_ADD || *reduction == TSR_SCATTER_MULTIPLY;
    if (adds && !tsr_dtype_is_float(data->dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "sums and products of %s may pass 2^24, which a GPU does not hold exactly",
                        tsr_dtype_name(data->dtype));
    if ((double)tsr_shape_count(&s->seen) / 4 * (double)s->count / 4 > most)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "too many updates of too many elements for a GPU");
    return TSR_OK;
}

static tsr_status lower_scatter(tsr_plan *plan, const tsr_node *node, const scatter *s) {
    tsr_scatter_reduction reduction;
    TSR_TRY(check_scatter(plan, node, s, &reduction));
    int output = tsr_lower_output(plan, node, &s->seen);
    TSR_PASS(plan, output, scatter, .X = TSR_TENSOR(s->data), .I = TSR_TENSOR(s->indices),
             .U = TSR_TENSOR(s->updates), .REDUCTION = TSR_INT(reduction),
             .SHARED = TSR_INT(s->shared));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1,
                       (int64_t[]){tsr_divide_up(s->count, 4)});
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

tsr_status tsr_lower_scatter_nd(tsr_plan *plan, const tsr_node *node) {
    choice c;
    if (!has_updates(plan, node, 2))
        return tsr_lower_view(plan, node);
    TSR_TRY(read_choice(plan, node, 0, &c));
    const tsr_shape updates = {4, {1, c.tuples, 1, c.block}};
    scatter s = {.shared = true, .seen = {4, {1, c.elements, 1, c.block}}, .count = c.tuples};
    s.data = tsr_lower_seen(plan, node->inputs[0], &s.seen);
    s.updates = tsr_lower_seen(plan, node->inputs[2], &updates);
    s.indices = flatten_tuples(plan, node, &c);
    return lower_scatter(plan, node, &s);
}

/* Batches as images, what is between them and the axis as channels, the axis as rows. */
tsr_status tsr_lower_tensor_scatter(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *past = &tsr_node_in(plan->graph, node, 0)->shape,
                    *update = &tsr_node_in(plan->graph, node, 1)->shape;
    tsr_tensor_scatter scatter;
    if (!has_updates(plan, node, 1))
        return tsr_lower_view(plan, node);
    TSR_TRY(tsr_node_tensor_scatter(plan->graph, node, &scatter));
    int64_t channels = tsr_dim_product(past, 1, scatter.axis),
            columns = tsr_dim_product(past, scatter.axis + 1, past->rank);
    const tsr_shape seen = {4, {past->dim[0], channels, past->dim[scatter.axis], columns}},
                    updates = {4, {past->dim[0], channels, update->dim[scatter.axis], columns}},
                    starts = {4, {past->dim[0], 1, 1, 1}};
    int x = tsr_lower_seen(plan, node->inputs[0], &seen),
        u = tsr_lower_seen(plan, node->inputs[1], &updates);
    if (!tsr_node_in(plan->graph, node, 2)) {
        int output = tsr_lower_output(plan, node, &seen);
        TSR_PASS(plan, output, tensor_scatter, .X = TSR_TENSOR(x), .U = TSR_TENSOR(u),
                 .CIRCULAR = TSR_INT(scatter.circular), .STARTS = TSR_INT(0));
        tsr_lower_finish(plan, node, output);
        return plan->status;
    }
    int i = tsr_lower_seen(plan, node->inputs[2], &starts),
        output = tsr_lower_output(plan, node, &seen);
    TSR_PASS(plan, output, tensor_scatter, .X = TSR_TENSOR(x), .U = TSR_TENSOR(u),
             .I = TSR_TENSOR(i), .CIRCULAR = TSR_INT(scatter.circular), .STARTS = TSR_INT(1));
    tsr_lower_finish(plan, node, output);
    return plan->status;
}

/* A tensor of up to four axes, filled up to another shape. */
static int fill_up(tsr_plan *plan, int value, const tsr_shape *shape, float filling) {
    int source = tsr_plan_value(plan, value);
    if (plan->status != TSR_OK)
        return 0;
    tsr_strided_copy copy = tsr_identity_copy(shape->rank);
    copy.pad = 1;
    copy.value = filling;
    int filled = tsr_plan_tensor_computed(plan, shape, source);
    tsr_lower_strided_copy(plan, source, filled, &copy);
    return filled;
}

/* An input of the data's axes but for the one that indices are along, seen as the data. */
static int see_updates(tsr_plan *plan, int value, const tsr_shape *wanted, int axis,
                       float filling) {
    const tsr_shape around = tsr_around_axis(wanted, axis),
                    seen = {4, {around.dim[0], around.dim[1], 1, around.dim[2]}};
    if (tsr_shape_equal(&plan->graph->values[value].shape, wanted))
        return tsr_lower_seen(plan, value, &seen);
    int filled = fill_up(plan, value, wanted, filling);
    return plan->status == TSR_OK ? tsr_plan_reshape(plan, filled, &seen) : 0;
}

tsr_status tsr_lower_scatter_elements(tsr_plan *plan, const tsr_node *node) {
    const float nowhere = -TSR_EXACT_FLOATS; /* no axis is so long */
    const tsr_value *data = tsr_node_in(plan->graph, node, 0),
                    *indices = tsr_node_in(plan->graph, node, 1);
    int axis;
    if (!has_updates(plan, node, 2))
        return tsr_lower_view(plan, node);
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), data->shape.rank, &axis));
    tsr_shape wanted = data->shape;
    wanted.dim[axis] = indices->shape.dim[axis];
    if (!tsr_shape_equal(&wanted, &indices->shape))
        TSR_TRY(tsr_require_four_axes(data));
    if (data->shape.dim[axis] >= tsr_plan_exact_integers(plan))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "indices of axis %d are not exact in this GPU's floats", axis);
    const tsr_shape around = tsr_around_axis(&data->shape, axis);
    scatter s = {.seen = {4, {around.dim[0], around.dim[1], 1, around.dim[2]}},
                 .count = wanted.dim[axis]};
    s.data = tsr_lower_seen(plan, node->inputs[0], &s.seen);
    s.indices = see_updates(plan, node->inputs[1], &wanted, axis, nowhere);
    s.updates = see_updates(plan, node->inputs[2], &wanted, axis, 0);
    return lower_scatter(plan, node, &s);
}
