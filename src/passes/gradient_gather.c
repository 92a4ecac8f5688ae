/* Gradients of what reads and writes elements by index: sums by scattering, and gathering. */
#include "passes/gradient_rules.h"

#include "base/error.h"
#include "graph/infer.h"

#include <string.h>

static int by_elements(tsr_gradient_call *g, int axis, int data, int indices, int updates,
                       bool adds) {
    const int inputs[] = {data, indices, updates};
    const tsr_attr attrs[] = {tsr_int_attr("axis", axis),
                              {.name = "reduction", .kind = TSR_ATTR_STRING, .s = "add"}};
    return tsr_build_with(&g->b, TSR_OP_ScatterElements, 3, inputs, adds ? 2 : 1, attrs);
}

static int by_tuples(tsr_gradient_call *g, int data, int indices, int updates, bool adds) {
    const int inputs[] = {data, indices, updates};
    const tsr_attr add = {.name = "reduction", .kind = TSR_ATTR_STRING, .s = "add"};
    return tsr_build_with(&g->b, TSR_OP_ScatterND, 3, inputs, adds, &add);
}

/* ---- reading ---- */

/* Seen as [outer, axis, inner], the axis moved to the front, where tuples of one index choose
 * rows. */
void tsr_gradient_gather(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int axis = tsr_grad_axis(g, 0);
    const int64_t outer = tsr_dim_product(&shape, 0, axis), size = shape.dim[axis],
                  inner = tsr_dim_product(&shape, axis + 1, shape.rank);
    const tsr_shape chosen = tsr_grad_shape(g, g->node->inputs[1]);
    const int64_t count = tsr_shape_count(&chosen);
    const tsr_shape tuples = {2, {count, 1}}, rows = {3, {size, outer, inner}},
                    moved = {3, {outer, count, inner}};
    static const int64_t swap[] = {1, 0, 2};
    int updates = tsr_grad_reshape(g, g->dy, &moved);
    if (outer != 1)
        updates = tsr_grad_transpose(g, updates, swap);
    else
        updates = tsr_grad_reshape(g, updates, &(tsr_shape){3, {count, 1, inner}});
    int sums = by_tuples(g, tsr_grad_zeros(g, &rows),
                         tsr_grad_reshape(g, g->node->inputs[1], &tuples), updates, true);
    if (outer != 1)
        sums = tsr_grad_transpose(g, sums, swap);
    tsr_grad_give(g, 0, tsr_grad_reshape(g, sums, &shape));
}

void tsr_gradient_gather_elements(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int axis = tsr_grad_axis(g, 0);
    tsr_grad_give(g, 0,
                  by_elements(g, axis, tsr_grad_zeros(g, &shape), g->node->inputs[1], g->dy, true));
}

/* Tuples with the places of batches before them, [.., batch_dims + tuple]: they choose from all. */
static int add_batch_places(tsr_gradient_call *g, int indices, int batch_dims) {
    tsr_shape shape = tsr_grad_shape(g, indices);
    const tsr_attr last = tsr_int_attr("axis", shape.rank - 1);
    int parts[TSR_MAX_RANK + 1];
    shape.dim[shape.rank - 1] = 1;
    for (int i = 0; i < batch_dims; i++)
        parts[i] = tsr_grad_expand(
            g, tsr_build_indices(&g->b, TSR_DTYPE_I64, shape.dim[i], i, shape.rank), &shape);
    parts[batch_dims] = indices;
    return tsr_build_with(&g->b, TSR_OP_Concat, batch_dims + 1, parts, 1, &last);
}

void tsr_gradient_gather_nd(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int batch_dims = (int)tsr_attr_int(g->node, "batch_dims", 0), indices = g->node->inputs[1];
    if (batch_dims)
        indices = add_batch_places(g, indices, batch_dims);
    tsr_grad_give(g, 0, by_tuples(g, tsr_grad_zeros(g, &shape), indices, g->dy, true));
}

/* Output 1 tells where the elements were. */
void tsr_gradient_top_k(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int axis = tsr_grad_axis(g, -1);
    tsr_grad_give(
        g, 0, by_elements(g, axis, tsr_grad_zeros(g, &shape), g->node->outputs[1], g->dy, false));
}

/* ---- writing ---- */

static int gather(tsr_gradient_call *g, tsr_op op, int data, int indices) {
    const tsr_attr axis = tsr_int_attr("axis", tsr_attr_int(g->node, "axis", 0));
    return tsr_build_with(&g->b, op, 2, (int[]){data, indices}, op == TSR_OP_GatherElements, &axis);
}

/* reduction: as the attribute */
static int scatter(tsr_gradient_call *g, int data, int updates, const char *reduction) {
    const tsr_attr attrs[] = {{.name = "reduction", .kind = TSR_ATTR_STRING, .s = reduction},
                              tsr_int_attr("axis", tsr_attr_int(g->node, "axis", 0))};
    return tsr_build_with(&g->b, g->node->op, 3, (int[]){data, g->node->inputs[1], updates},
                          g->node->op == TSR_OP_ScatterElements ? 2 : 1, attrs);
}

/* 1, 2, ... as floats that are stored in 32 bits. */
static int build_numbers(tsr_gradient_call *g, const tsr_shape *shape) {
    const int64_t exact = 1 << 24, count = tsr_shape_count(shape);
    if (count > exact)
        tsr_grad_refuse(g, "a scatter of more than 2^24 updates");
    float *numbers = tsr_build_elements(&g->b, count, sizeof *numbers);
    if (!numbers)
        return TSR_NONE;
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (float)(i + 1);
    int value =
        tsr_add_constant(g->b.graph, g->b.node->name, "numbers", TSR_DTYPE_F32, shape, numbers);
    if (value == TSR_NONE)
        return tsr_build_fail(&g->b, TSR_ERROR_OUT_OF_MEMORY);
    g->b.graph->values[value].precise = true;
    return value;
}

/* Which updates are in the result, when others have the same index? Those whose number is where
 * all numbers are written as the updates are. data, updates: shapes of numbers. */
static int find_last(tsr_gradient_call *g, tsr_op read, const tsr_shape *data,
                     const tsr_shape *updates) {
    int numbers = build_numbers(g, updates);
    int zeros = tsr_build_cast(&g->b, tsr_grad_zeros(g, data), TSR_DTYPE_F32);
    int written = scatter(g, zeros, numbers, "none");
    int found = gather(g, read, written, g->node->inputs[1]);
    if (g->b.status == TSR_OK)
        g->b.graph->values[written].precise = g->b.graph->values[found].precise = true;
    return TSR_GRAD(g, Equal, found, numbers);
}

/* Of ScatterElements and ScatterND that replace: the mask of updates that are in the result. */
static int mask_last(tsr_gradient_call *g) {
    const tsr_shape indices = tsr_grad_shape(g, g->node->inputs[1]), data = tsr_grad_shape(g, g->x);
    tsr_shape updates = tsr_grad_shape(g, g->node->inputs[2]);
    if (g->node->op == TSR_OP_ScatterElements)
        return find_last(g, TSR_OP_GatherElements, &data, &updates);
    /* a tuple's update is a block, which has one number */
    const tsr_shape blocks = tsr_shape_make((int)indices.dim[indices.rank - 1], data.dim),
                    tuples = tsr_shape_make(indices.rank - 1, indices.dim);
    for (int i = tuples.rank; i < updates.rank; i++)
        updates.dim[i] = 1;
    return tsr_grad_reshape(g, find_last(g, TSR_OP_GatherND, &blocks, &tuples), &updates);
}

static void give_replaced(tsr_gradient_call *g, tsr_op read) {
    const tsr_shape updates = tsr_grad_shape(g, g->node->inputs[2]);
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, scatter(g, g->dy, tsr_grad_zeros(g, &updates), "none"));
    if (tsr_grad_wants(g, 2)) {
        int mask = mask_last(g);
        tsr_grad_give(g, 2, tsr_grad_where(g, mask, gather(g, read, g->dy, g->node->inputs[1])));
    }
}

static void give_added(tsr_gradient_call *g, tsr_op read) {
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, g->dy);
    if (tsr_grad_wants(g, 2))
        tsr_grad_give(g, 2, gather(g, read, g->dy, g->node->inputs[1]));
}

/* The product of a factor's others: that of all factors but zeros, if there is no other zero,
 * divided by it if it is none. */
static int multiply_others(tsr_gradient_call *g, int factor, int product, int zero_count) {
    int one = tsr_build_number(&g->b, 1), zero = tsr_build_number(&g->b, 0),
        is_zero = TSR_GRAD(g, Equal, factor, zero);
    int count = tsr_build_cast_like(&g->b, is_zero, g->dy),
        others = TSR_GRAD(g, Div, product, TSR_GRAD(g, Where, is_zero, one, factor));
    return tsr_grad_where(g, TSR_GRAD(g, Equal, zero_count, count), others);
}

static int without_zeros(tsr_gradient_call *g, int factor, int *is_zero) {
    int mask = TSR_GRAD(g, Equal, factor, tsr_build_number(&g->b, 0));
    *is_zero = tsr_build_cast_like(&g->b, mask, g->dy);
    return TSR_GRAD(g, Where, mask, tsr_build_number(&g->b, 1), factor);
}

/* By as many updates as there are for an element. */
static void give_multiplied(tsr_gradient_call *g, tsr_op read) {
    const int indices = g->node->inputs[1], updates = g->node->inputs[2];
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, scatter(g, g->dy, updates, "mul"));
    if (!tsr_grad_wants(g, 2))
        return;
    int of_data, of_updates, data = without_zeros(g, g->x, &of_data);
    int product = scatter(g, data, without_zeros(g, updates, &of_updates), "mul"),
        zero_count = scatter(g, of_data, of_updates, "add");
    int others = multiply_others(g, updates, gather(g, read, product, indices),
                                 gather(g, read, zero_count, indices));
    tsr_grad_give(g, 2, TSR_GRAD(g, Mul, gather(g, read, g->dy, indices), others));
}

/* The element and its updates that equal the result share its gradient. */
static void give_extreme(tsr_gradient_call *g, tsr_op read) {
    const int indices = g->node->inputs[1];
    int of_data = TSR_GRAD(g, Equal, g->x, g->y),
        of_updates = TSR_GRAD(g, Equal, g->node->inputs[2], gather(g, read, g->y, indices));
    int count = scatter(g, tsr_build_cast_like(&g->b, of_data, g->dy),
                        tsr_build_cast_like(&g->b, of_updates, g->dy), "add");
    int share = TSR_GRAD(g, Div, g->dy, count);
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, tsr_grad_where(g, of_data, share));
    if (tsr_grad_wants(g, 2))
        tsr_grad_give(g, 2, tsr_grad_where(g, of_updates, gather(g, read, share, indices)));
}

/* Of ScatterElements and ScatterND. */
void tsr_gradient_scatter(tsr_gradient_call *g) {
    const tsr_op read =
        g->node->op == TSR_OP_ScatterElements ? TSR_OP_GatherElements : TSR_OP_GatherND;
    tsr_scatter_reduction reduction = TSR_SCATTER_REPLACE;
    tsr_build_fail(&g->b, tsr_node_scatter_reduction(g->node, &reduction));
    switch (reduction) {
    case TSR_SCATTER_REPLACE:
        give_replaced(g, read);
        break;
    case TSR_SCATTER_ADD:
        give_added(g, read);
        break;
    case TSR_SCATTER_MULTIPLY:
        give_multiplied(g, read);
        break;
    case TSR_SCATTER_LARGEST:
    case TSR_SCATTER_LEAST:
        give_extreme(g, read);
        break;
    }
}

/* Places along the axis that updates are written to, [N, 1.., count, 1..]. GPUs add floats, which
 * hold them exactly; place mod size is place - size * floor((place + 0.5) / size). */
static int written_places(tsr_gradient_call *g, const tsr_tensor_scatter *how, int64_t size) {
    const tsr_shape updates = tsr_grad_shape(g, g->node->inputs[1]);
    const int first = g->b.graph->value_count;
    int places =
        tsr_build_indices(&g->b, TSR_DTYPE_I64, updates.dim[how->axis], how->axis, updates.rank);
    if (g->node->input_count < 3 || g->node->inputs[2] == TSR_NONE)
        return places;
    tsr_shape batches = {.rank = updates.rank};
    for (int i = 0; i < updates.rank; i++)
        batches.dim[i] = i == 0 ? updates.dim[0] : 1;
    int starts = tsr_build_cast_like(&g->b, g->node->inputs[2], g->dy);
    places = TSR_GRAD(g, Add, tsr_grad_reshape(g, starts, &batches),
                      tsr_build_cast_like(&g->b, places, g->dy));
    if (how->circular) {
        int part = TSR_GRAD(g, Div, TSR_GRAD(g, Add, places, tsr_build_number(&g->b, 0.5f)),
                            tsr_build_number(&g->b, (float)size));
        places = TSR_GRAD(g, Sub, places, tsr_grad_scale(g, TSR_GRAD(g, Floor, part), (float)size));
    }
    for (int v = first; v < g->b.graph->value_count; v++)
        g->b.graph->values[v].precise = true;
    return tsr_build_cast(&g->b, places, TSR_DTYPE_I64);
}

/* No two updates have one place. */
void tsr_gradient_tensor_scatter(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x),
                    updates = tsr_grad_shape(g, g->node->inputs[1]);
    tsr_tensor_scatter how = {0};
    tsr_build_fail(&g->b, tsr_node_tensor_scatter(g->b.graph, g->node, &how));
    if (g->b.graph->values[g->dy].dtype != TSR_DTYPE_F32)
        tsr_grad_refuse(g, "of other types than float32 it");
    if (g->b.status == TSR_OK && shape.dim[how.axis] > 1 << 24)
        tsr_grad_refuse(g, "of more than 2^24 places it");
    if (g->b.status != TSR_OK)
        return;
    int places = tsr_grad_expand(g, written_places(g, &how, shape.dim[how.axis]), &updates);
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0,
                      by_elements(g, how.axis, g->dy, places, tsr_grad_zeros(g, &updates), false));
    const tsr_attr axis = tsr_int_attr("axis", how.axis);
    if (tsr_grad_wants(g, 1))
        tsr_grad_give(
            g, 1,
            tsr_build_with(&g->b, TSR_OP_GatherElements, 2, (int[]){g->dy, places}, 1, &axis));
}
