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

/* Factors that may be zero, several for one element: their own gradients are refused. */
static void give_multiplied(tsr_gradient_call *g) {
    if (tsr_grad_wants(g, 2))
        tsr_grad_refuse(g, "by updates that it multiplies by, it");
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, scatter(g, g->dy, g->node->inputs[2], "mul"));
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
        give_multiplied(g);
        break;
    case TSR_SCATTER_LARGEST:
    case TSR_SCATTER_LEAST:
        give_extreme(g, read);
        break;
    }
}
