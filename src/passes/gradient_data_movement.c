/* Gradients of what moves elements: the same elements, moved back; those that were copied several
 * times are summed. */
#include "passes/gradient_rules.h"

#include "base/error.h"
#include "graph/infer.h"

#include <string.h>

/* Other shapes and types of the same elements. */
void tsr_gradient_view(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    tsr_grad_give(g, 0, tsr_grad_reshape(g, g->dy, &shape));
}

void tsr_gradient_expand(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    tsr_grad_give(g, 0, tsr_grad_sum_to(g, g->dy, &shape));
}

void tsr_gradient_transpose(tsr_gradient_call *g) {
    int64_t perm[TSR_MAX_RANK], back[TSR_MAX_RANK];
    int rank = tsr_grad_shape(g, g->x).rank;
    tsr_node_perm(g->node, rank, perm);
    for (int i = 0; i < rank; i++)
        back[perm[i]] = i;
    tsr_grad_give(g, 0, tsr_grad_transpose(g, g->dy, back));
}

/* ---- Concat, Split ---- */

void tsr_gradient_concat(tsr_gradient_call *g) {
    int axis = tsr_grad_axis(g, 0);
    int64_t first = 0;
    for (int i = 0; i < g->node->input_count && g->b.status == TSR_OK; i++) {
        int64_t size = tsr_grad_shape(g, g->node->inputs[i]).dim[axis];
        if (tsr_grad_wants(g, i))
            tsr_grad_give(g, i, tsr_build_slice(&g->b, g->dy, axis, first, first + size));
        first += size;
    }
}

/* Parts that the loss does not depend on are zero. */
void tsr_gradient_split(tsr_gradient_call *g) {
    const tsr_attr axis = tsr_int_attr("axis", tsr_grad_axis(g, 0));
    int count = g->node->output_count, *parts = TSR_NEW(g->b.graph->arena, count, int);
    if (!parts) {
        tsr_build_fail(&g->b, tsr_out_of_memory(g->b.graph));
        return;
    }
    for (int i = 0; i < count; i++) {
        const tsr_shape shape = tsr_grad_shape(g, g->node->outputs[i]);
        parts[i] = tsr_grad_of_output(g, i);
        if (parts[i] == TSR_NONE)
            parts[i] = tsr_grad_zeros(g, &shape);
    }
    tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_Concat, count, parts, 1, &axis));
}

/* ---- Slice, Pad ---- */

/* Zeros before and after each axis; negative numbers cut. */
static int pad(tsr_gradient_call *g, int value, const int64_t *begin, const int64_t *end) {
    int64_t pads[2 * TSR_MAX_RANK];
    int rank = tsr_grad_shape(g, value).rank;
    bool any = false;
    for (int i = 0; i < rank; i++) {
        pads[i] = begin[i];
        pads[rank + i] = end[i];
        any = any || begin[i] || end[i];
    }
    return any ? TSR_GRAD(g, Pad, value, tsr_build_ints(&g->b, 2 * rank, pads)) : value;
}

/* step - 1 zeros after each element along an axis. */
static int spread(tsr_gradient_call *g, int value, int axis, int64_t step) {
    tsr_shape shape = tsr_grad_shape(g, value);
    const tsr_shape seen = {
        2, {tsr_dim_product(&shape, 0, axis + 1), tsr_dim_product(&shape, axis + 1, shape.rank)}};
    const int64_t none[2] = {0}, more[2] = {0, (step - 1) * seen.dim[1]};
    shape.dim[axis] *= step;
    return tsr_grad_reshape(g, pad(g, tsr_grad_reshape(g, value, &seen), none, more), &shape);
}

static int reverse(tsr_gradient_call *g, int value, const int64_t axis) {
    const int64_t last = -1, end = INT64_MIN;
    return TSR_GRAD(g, Slice, value, tsr_build_ints(&g->b, 1, &last),
                    tsr_build_ints(&g->b, 1, &end), tsr_build_ints(&g->b, 1, &axis),
                    tsr_build_ints(&g->b, 1, &last));
}

void tsr_gradient_slice(tsr_gradient_call *g) {
    tsr_slice slice;
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    int value = g->dy;
    tsr_status status = tsr_node_slice(g->b.graph, g->node, &slice);
    if (status != TSR_OK) {
        tsr_build_fail(&g->b, status);
        return;
    }
    for (int i = 0; i < shape.rank; i++) {
        int64_t count = slice.count[i], step = count > 1 ? slice.step[i] : 1,
                last = slice.start[i] + (count - 1) * step;
        if (step < 0)
            value = reverse(g, value, i);
        if (step < -1 || step > 1)
            value = spread(g, value, i, step < 0 ? -step : step);
        begin[i] = count == 0 ? 0 : step < 0 ? last : slice.start[i];
        end[i] = shape.dim[i] - begin[i] - count * (step < 0 ? -step : step);
    }
    tsr_grad_give(g, 0, pad(g, value, begin, end));
}

/* The element that position i of a padded axis, from the first that is kept on, copies. */
static int64_t pad_source(bool reflects, int64_t i, int64_t kept) {
    int64_t last = kept - 1;
    if (i >= 0 && i <= last)
        return i;
    if (reflects)
        return i < 0 ? -i : 2 * last - i;
    return i < 0 ? 0 : last;
}

/* Copies that edge and reflect made are added to what they were made of, along an axis. */
static int fold_axis(tsr_gradient_call *g, int value, int axis, int64_t begin, int64_t end) {
    int64_t from = tsr_grad_shape(g, value).dim[axis], to = tsr_grad_shape(g, g->x).dim[axis],
            cut = begin < 0 ? -begin : 0, added = begin + cut,
            kept = to - cut + (end < 0 ? end : 0);
    bool reflects = strcmp(tsr_attr_string(g->node, "mode", "constant"), "reflect") == 0;
    float *matrix = tsr_build_elements(&g->b, to * from, sizeof *matrix);
    if (!matrix)
        return TSR_NONE;
    for (int64_t i = 0; i < from; i++)
        matrix[(cut + pad_source(reflects, i - added, kept)) * from + i] = 1;
    return tsr_grad_apply_matrix(g, value, axis, to, matrix);
}

/* The value that was filled with has what the elements have not. */
static void give_fill(tsr_gradient_call *g, int of_elements) {
    const tsr_shape shape = tsr_grad_shape(g, g->node->inputs[2]);
    int all = tsr_grad_sum_to(g, g->dy, &shape), rest = tsr_grad_sum_to(g, of_elements, &shape);
    tsr_grad_give(g, 2, TSR_GRAD(g, Sub, all, rest));
}

void tsr_gradient_pad(tsr_gradient_call *g) {
    int64_t begin[TSR_MAX_RANK] = {0}, end[TSR_MAX_RANK] = {0};
    int rank = tsr_grad_shape(g, g->x).rank, value = g->dy;
    bool constant = strcmp(tsr_attr_string(g->node, "mode", "constant"), "constant") == 0;
    tsr_build_fail(&g->b, tsr_node_pads(g->b.graph, g->node, begin, end));
    for (int i = 0; i < rank && !constant && g->b.status == TSR_OK; i++)
        if (begin[i] || end[i])
            value = fold_axis(g, value, i, begin[i], end[i]);
    for (int i = 0; i < rank; i++) {
        begin[i] = constant ? -begin[i] : 0;
        end[i] = constant ? -end[i] : 0;
    }
    value = pad(g, value, begin, end);
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, value);
    if (constant && tsr_grad_wants(g, 2))
        give_fill(g, value);
}

/* ---- DepthToSpace, SpaceToDepth ---- */

static int by_block(tsr_gradient_call *g, tsr_op op) {
    const tsr_attr size = tsr_int_attr("blocksize", tsr_attr_int(g->node, "blocksize", 1));
    return tsr_build_with(&g->b, op, 1, &g->dy, 1, &size);
}

/* SpaceToDepth has no mode: its order is that of DCR. */
void tsr_gradient_depth_to_space(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    static const int64_t perm[] = {0, 1, 3, 5, 2, 4};
    int64_t block = tsr_attr_int(g->node, "blocksize", 1), depth = shape.dim[1] / (block * block);
    if (tsr_depth_comes_first(g->node)) {
        tsr_grad_give(g, 0, by_block(g, TSR_OP_SpaceToDepth));
        return;
    }
    const tsr_shape seen = {6, {shape.dim[0], depth, shape.dim[2], block, shape.dim[3], block}};
    int moved = tsr_grad_transpose(g, tsr_grad_reshape(g, g->dy, &seen), perm);
    tsr_grad_give(g, 0, tsr_grad_reshape(g, moved, &shape));
}

void tsr_gradient_space_to_depth(tsr_gradient_call *g) {
    tsr_grad_give(g, 0, by_block(g, TSR_OP_DepthToSpace));
}

/* ---- Trilu, CumSum, CumProd ---- */

void tsr_gradient_trilu(tsr_gradient_call *g) {
    const tsr_attr upper = tsr_int_attr("upper", tsr_attr_int(g->node, "upper", 1));
    const int inputs[] = {g->dy, g->node->input_count > 1 ? g->node->inputs[1] : TSR_NONE};
    tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_Trilu, 2, inputs, 1, &upper));
}

void tsr_gradient_cum_sum(tsr_gradient_call *g) {
    const tsr_attr attrs[] = {
        tsr_int_attr("exclusive", tsr_attr_int(g->node, "exclusive", 0)),
        tsr_int_attr("reverse", !tsr_attr_int(g->node, "reverse", 0)),
    };
    const int inputs[] = {g->dy, g->node->inputs[1]};
    tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_CumSum, 2, inputs, 2, attrs));
}

/* dx[i] = sum of dy[k] * (y[k] with a 1 instead of x[i]) over all y[k] that have x[i] as a factor:
 * unlike y[k] / x[i] it is exact where elements are zero. x, dy: [rows, 1, n]; returns [rows, n,
 * 1]. */
static int sum_products(tsr_gradient_call *g, int x, int dy, int64_t n) {
    const bool exclusive = tsr_attr_int(g->node, "exclusive", 0) != 0,
               reverse = tsr_attr_int(g->node, "reverse", 0) != 0;
    const tsr_attr attrs[] = {tsr_int_attr("exclusive", exclusive),
                              tsr_int_attr("reverse", reverse)};
    const tsr_op order = exclusive ? TSR_OP_Less : TSR_OP_LessOrEqual;
    static const int64_t last = 2;
    int i = tsr_build_indices(&g->b, TSR_DTYPE_I64, n, 0, 2),
        k = tsr_build_indices(&g->b, TSR_DTYPE_I64, n, 1, 2);
    int factors = TSR_GRAD(g, Where, TSR_GRAD(g, Equal, i, k), tsr_build_number(&g->b, 1), x);
    const int inputs[] = {factors, tsr_build_index(&g->b, last)};
    int products = tsr_build_with(&g->b, TSR_OP_CumProd, 2, inputs, 2, attrs);
    int has_factor = tsr_build(&g->b, order, 2, reverse ? (int[]){k, i} : (int[]){i, k});
    int parts = tsr_grad_where(g, has_factor, TSR_GRAD(g, Mul, products, dy));
    return tsr_grad_reduce(g, TSR_OP_ReduceSum, parts, 1, &last);
}

void tsr_gradient_cum_prod(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    static const int64_t swap[] = {0, 2, 1};
    int axis = 0;
    tsr_build_fail(&g->b, tsr_node_cum_sum_axis(g->b.graph, g->node, &axis));
    const int64_t n = shape.dim[axis], outer = tsr_dim_product(&shape, 0, axis),
                  inner = tsr_dim_product(&shape, axis + 1, shape.rank);
    const tsr_shape seen = {3, {outer, n, inner}}, moved = {3, {outer, inner, n}},
                    rows = {3, {outer * inner, 1, n}};
    int x = tsr_grad_transpose(g, tsr_grad_reshape(g, g->x, &seen), swap),
        dy = tsr_grad_transpose(g, tsr_grad_reshape(g, g->dy, &seen), swap);
    int sums = sum_products(g, tsr_grad_reshape(g, x, &rows), tsr_grad_reshape(g, dy, &rows), n);
    int back = tsr_grad_transpose(g, tsr_grad_reshape(g, sums, &moved), swap);
    tsr_grad_give(g, 0, tsr_grad_reshape(g, back, &shape));
}
