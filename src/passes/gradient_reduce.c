/* Gradients of reductions. */
#include "passes/gradient_rules.h"

#include "base/error.h"
#include "graph/infer.h"

#define DO(Op, ...) TSR_GRAD(g, Op, __VA_ARGS__)

/* A reduction, with its gradient seen as if the axes were kept. */
typedef struct reduction {
    tsr_shape shape, kept; /* of input and result */
    int axis_count;
    int64_t axes[TSR_MAX_RANK];
    int dy;
} reduction;

static reduction begin(tsr_gradient_call *g) {
    bool reduced[TSR_MAX_RANK] = {false};
    reduction r = {.shape = tsr_grad_shape(g, g->x)};
    tsr_build_fail(&g->b, tsr_node_reduced_axes(g->b.graph, g->node, reduced));
    r.kept = r.shape;
    for (int i = 0; i < r.shape.rank; i++)
        if (reduced[i]) {
            r.axes[r.axis_count++] = i;
            r.kept.dim[i] = 1;
        }
    r.dy = tsr_grad_reshape(g, g->dy, &r.kept);
    return r;
}

/* The result, as if the axes were kept. */
static int result(tsr_gradient_call *g, const reduction *r) {
    return tsr_grad_reshape(g, g->y, &r->kept);
}

/* ---- sums ---- */

void tsr_gradient_reduce_sum(tsr_gradient_call *g) {
    const reduction r = begin(g);
    tsr_grad_give(g, 0, r.dy);
}

void tsr_gradient_reduce_mean(tsr_gradient_call *g) {
    const reduction r = begin(g);
    float count = (float)tsr_shape_count(&r.shape) / (float)tsr_shape_count(&r.kept);
    tsr_grad_give(g, 0, tsr_grad_scale(g, r.dy, 1 / count));
}

void tsr_gradient_reduce_sum_square(tsr_gradient_call *g) {
    const reduction r = begin(g);
    tsr_grad_give(g, 0, DO(Mul, g->x, tsr_grad_scale(g, r.dy, 2)));
}

void tsr_gradient_reduce_l1(tsr_gradient_call *g) {
    const reduction r = begin(g);
    tsr_grad_give(g, 0, DO(Mul, DO(Sign, g->x), r.dy));
}

/* x / y; 0 where all are zero. */
void tsr_gradient_reduce_l2(tsr_gradient_call *g) {
    const reduction r = begin(g);
    int y = result(g, &r), some = DO(Greater, y, tsr_build_number(&g->b, 0));
    tsr_grad_give(g, 0, DO(Mul, g->x, tsr_grad_where(g, some, DO(Div, r.dy, y))));
}

void tsr_gradient_reduce_log_sum(tsr_gradient_call *g) {
    const reduction r = begin(g);
    tsr_grad_give(g, 0, DO(Div, r.dy, DO(Exp, result(g, &r))));
}

void tsr_gradient_reduce_log_sum_exp(tsr_gradient_call *g) {
    const reduction r = begin(g);
    tsr_grad_give(g, 0, DO(Mul, DO(Exp, DO(Sub, g->x, result(g, &r))), r.dy));
}

/* ---- largest and least ---- */

void tsr_grad_share(tsr_gradient_call *g, int y, int dy, int count, const int64_t *axes) {
    int mask = DO(Equal, g->x, y);
    int chosen =
        tsr_grad_reduce(g, TSR_OP_ReduceSum, tsr_build_cast_like(&g->b, mask, dy), count, axes);
    tsr_grad_give(g, 0, tsr_grad_where(g, mask, DO(Div, dy, chosen)));
}

void tsr_gradient_reduce_extreme(tsr_gradient_call *g) {
    const reduction r = begin(g);
    tsr_grad_share(g, result(g, &r), r.dy, r.axis_count, r.axes);
}

/* ---- ReduceProd ---- */

/* Those reduced last, in their order. */
static void order_axes(const reduction *r, int64_t perm[TSR_MAX_RANK],
                       int64_t reverse[TSR_MAX_RANK]) {
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0, k = 0; i < r->shape.rank; i++) {
            bool reduced = k < r->axis_count && r->axes[k] == i;
            k += reduced;
            if (reduced == (pass == 1)) {
                reverse[i] = count;
                perm[count++] = i;
            }
        }
}

/* dy times the product of those before and of those after: exact where elements are zero. */
void tsr_gradient_reduce_prod(tsr_gradient_call *g) {
    const reduction r = begin(g);
    int64_t perm[TSR_MAX_RANK], reverse[TSR_MAX_RANK];
    order_axes(&r, perm, reverse);
    int moved = r.axis_count ? tsr_grad_transpose(g, g->x, perm) : g->x;
    const tsr_shape ordered = tsr_grad_shape(g, moved);
    const int first = r.shape.rank - r.axis_count;
    const tsr_shape rows = {2,
                            {tsr_dim_product(&ordered, 0, first),
                             tsr_dim_product(&ordered, first, ordered.rank)}},
                    results = {2, {rows.dim[0], 1}};
    const int inputs[] = {tsr_grad_reshape(g, moved, &rows), tsr_build_index(&g->b, 1)};
    const tsr_attr attrs[] = {tsr_int_attr("exclusive", 1), tsr_int_attr("reverse", 1)};
    int before = tsr_build_with(&g->b, TSR_OP_CumProd, 2, inputs, 1, attrs),
        after = tsr_build_with(&g->b, TSR_OP_CumProd, 2, inputs, 2, attrs);
    int slope = DO(Mul, before, after);
    int product = DO(Mul, slope, tsr_grad_reshape(g, r.dy, &results));
    int back = tsr_grad_reshape(g, product, &ordered);
    tsr_grad_give(g, 0, r.axis_count ? tsr_grad_transpose(g, back, reverse) : back);
}
