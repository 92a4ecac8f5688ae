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

void tsr_gradient_gather_nd(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    if (tsr_attr_int(g->node, "batch_dims", 0) != 0)
        tsr_grad_refuse(g, "with batch_dims, it");
    tsr_grad_give(g, 0, by_tuples(g, tsr_grad_zeros(g, &shape), g->node->inputs[1], g->dy, true));
}

/* Output 1 tells where the elements were. */
void tsr_gradient_top_k(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int axis = tsr_grad_axis(g, -1);
    tsr_grad_give(
        g, 0, by_elements(g, axis, tsr_grad_zeros(g, &shape), g->node->outputs[1], g->dy, false));
}

/* ---- writing ---- */

/* Does it add, not replace? Other reductions are refused. */
static bool read_adds(tsr_gradient_call *g) {
    tsr_scatter_reduction reduction = TSR_SCATTER_REPLACE;
    tsr_build_fail(&g->b, tsr_node_scatter_reduction(g->node, &reduction));
    if (reduction != TSR_SCATTER_REPLACE && reduction != TSR_SCATTER_ADD)
        tsr_grad_refuse(g, "its reduction");
    return reduction == TSR_SCATTER_ADD;
}

static int gather(tsr_gradient_call *g, tsr_op op, int data, int indices) {
    const tsr_attr axis = tsr_int_attr("axis", tsr_attr_int(g->node, "axis", 0));
    return tsr_build_with(&g->b, op, 2, (int[]){data, indices}, op == TSR_OP_GatherElements, &axis);
}

static int scatter(tsr_gradient_call *g, int data, int updates) {
    const tsr_attr axis = tsr_int_attr("axis", tsr_attr_int(g->node, "axis", 0));
    return tsr_build_with(&g->b, g->node->op, 3, (int[]){data, g->node->inputs[1], updates},
                          g->node->op == TSR_OP_ScatterElements, &axis);
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
    int written = scatter(g, zeros, numbers);
    int found = gather(g, read, written, g->node->inputs[1]);
    if (g->b.status == TSR_OK)
        g->b.graph->values[written].precise = g->b.graph->values[found].precise = true;
    return TSR_GRAD(g, Equal, found, numbers);
}

/* mask: of updates that are in the result; TSR_NONE: all */
static void give_scatter(tsr_gradient_call *g, tsr_op read, bool adds, int mask) {
    const tsr_shape updates = tsr_grad_shape(g, g->node->inputs[2]);
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, adds ? g->dy : scatter(g, g->dy, tsr_grad_zeros(g, &updates)));
    if (tsr_grad_wants(g, 2)) {
        int of_updates = gather(g, read, g->dy, g->node->inputs[1]);
        tsr_grad_give(g, 2, mask == TSR_NONE ? of_updates : tsr_grad_where(g, mask, of_updates));
    }
}

void tsr_gradient_scatter_elements(tsr_gradient_call *g) {
    const tsr_shape data = tsr_grad_shape(g, g->x), updates = tsr_grad_shape(g, g->node->inputs[2]);
    bool adds = read_adds(g);
    int mask = adds || !tsr_grad_wants(g, 2) ? TSR_NONE
                                             : find_last(g, TSR_OP_GatherElements, &data, &updates);
    give_scatter(g, TSR_OP_GatherElements, adds, mask);
}

/* A tuple's update is a block, which has one number. */
void tsr_gradient_scatter_nd(tsr_gradient_call *g) {
    const tsr_shape indices = tsr_grad_shape(g, g->node->inputs[1]), data = tsr_grad_shape(g, g->x);
    bool adds = read_adds(g);
    int mask = TSR_NONE, tuple = (int)indices.dim[indices.rank - 1];
    if (!adds && tsr_grad_wants(g, 2)) {
        const tsr_shape blocks = tsr_shape_make(tuple, data.dim),
                        tuples = tsr_shape_make(indices.rank - 1, indices.dim);
        tsr_shape seen = tsr_grad_shape(g, g->node->inputs[2]);
        for (int i = tuples.rank; i < seen.rank; i++)
            seen.dim[i] = 1;
        mask = tsr_grad_reshape(g, find_last(g, TSR_OP_GatherND, &blocks, &tuples), &seen);
    }
    give_scatter(g, TSR_OP_GatherND, adds, mask);
}
