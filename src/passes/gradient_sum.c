/* Sums of gradients over the axes along which values were repeated. Most are of images: what
 * another sum tells is not summed again. */
#include "passes/gradient_rules.h"

#include "graph/infer.h"

/* Axes of a shape along which values are summed. */
typedef struct summed {
    int count;
    int64_t axes[TSR_MAX_RANK];
    bool is[TSR_MAX_RANK];
} summed;

static const tsr_node *maker(const tsr_gradient_call *g, int value) {
    int producer = g->b.graph->values[value].producer;
    return producer == TSR_NONE ? NULL : &g->b.list->nodes[producer];
}

/* Does the node reduce a value over these axes, or others of one element, and keep them? */
static bool reduces(const tsr_gradient_call *g, const tsr_node *node, tsr_op op, int value,
                    const summed *s) {
    bool reduced[TSR_MAX_RANK] = {false};
    const tsr_shape shape = tsr_grad_shape(g, value);
    if (!node || tsr_is_dropped(node) || node->op != op || node->inputs[0] != value ||
        tsr_grad_shape(g, node->outputs[0]).rank != shape.rank ||
        tsr_node_reduced_axes(g->b.graph, node, reduced) != TSR_OK)
        return false;
    bool same = true;
    for (int i = 0; i < shape.rank && same; i++)
        same = reduced[i] == s->is[i] || shape.dim[i] == 1;
    return same;
}

/* Of a Mul of tensors of one rank: the input that is the same along the axes; TSR_NONE if neither
 * is. */
static int find_factor(const tsr_gradient_call *g, const tsr_node *node, const summed *s) {
    const tsr_shape shapes[2] = {tsr_grad_shape(g, node->inputs[0]),
                                 tsr_grad_shape(g, node->inputs[1])};
    for (int i = 0; i < 2; i++) {
        bool same = shapes[0].rank == shapes[1].rank;
        for (int a = 0; a < s->count && same; a++)
            same = shapes[i].dim[s->axes[a]] == 1;
        if (same)
            return i;
    }
    return TSR_NONE;
}

/* Is the value's sum 0: are they differences from their mean, or those times a factor? */
static bool sums_to_zero(const tsr_gradient_call *g, int value, const summed *s) {
    const tsr_node *node = maker(g, value);
    if (!node)
        return false;
    if (node->op == TSR_OP_Sub)
        return reduces(g, maker(g, node->inputs[1]), TSR_OP_ReduceMean, node->inputs[0], s);
    int factor = node->op == TSR_OP_Mul ? find_factor(g, node, s) : TSR_NONE;
    return factor != TSR_NONE && sums_to_zero(g, node->inputs[1 - factor], s);
}

/* Among the nodes made last, in which a layer's other gradients are. */
static int find_sum(const tsr_gradient_call *g, int value, const summed *s) {
    enum { LOOKED_AT = 64 };
    const tsr_node_list *list = g->b.list;
    for (int n = list->count - 1; n >= 0 && n >= list->count - LOOKED_AT; n--)
        if (reduces(g, &list->nodes[n], TSR_OP_ReduceSum, value, s))
            return list->nodes[n].outputs[0];
    return TSR_NONE;
}

/* By a sum that there is already; TSR_NONE if none tells it. */
static int known_sum(tsr_gradient_call *g, int value, const summed *s) {
    const tsr_shape shape = tsr_grad_shape(g, value);
    const tsr_node *node = maker(g, value);
    int sum = find_sum(g, value, s);
    for (int i = 0; sum == TSR_NONE && node && node->op == TSR_OP_Add && i < 2; i++) {
        const tsr_shape rest = tsr_grad_shape(g, node->inputs[1 - i]);
        if (tsr_shape_equal(&rest, &shape) && sums_to_zero(g, node->inputs[i], s))
            return known_sum(g, node->inputs[1 - i], s);
    }
    int factor = node && node->op == TSR_OP_Mul ? find_factor(g, node, s) : TSR_NONE;
    if (sum != TSR_NONE || factor == TSR_NONE)
        return sum;
    const int by = node->inputs[factor]; /* nodes move */
    sum = known_sum(g, node->inputs[1 - factor], s);
    return sum == TSR_NONE ? TSR_NONE : TSR_GRAD(g, Mul, sum, by);
}

int tsr_grad_sum_to(tsr_gradient_call *g, int value, const tsr_shape *shape) {
    if (g->b.status != TSR_OK)
        return TSR_NONE;
    const tsr_shape from = tsr_grad_shape(g, value);
    summed s = {0};
    int more = from.rank - shape->rank;
    for (int i = 0; i < from.rank; i++)
        if (from.dim[i] != (i < more ? 1 : shape->dim[i - more])) {
            s.axes[s.count++] = i;
            s.is[i] = true;
        }
    int sum = s.count == 0 ? value : known_sum(g, value, &s);
    if (sum == TSR_NONE)
        sum = tsr_grad_reduce(g, TSR_OP_ReduceSum, value, s.count, s.axes);
    return tsr_grad_reshape(g, sum, shape);
}
