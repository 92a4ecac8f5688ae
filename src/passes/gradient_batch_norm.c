/* The gradient of what functions.c makes of BatchNormalization in training, as a whole: its parts'
 * own rules would take more passes over the tensor. */
#include "passes/gradient_rules.h"

#include "graph/infer.h"

#define DO(Op, ...) TSR_GRAD(g, Op, __VA_ARGS__)

/* y = centred * inverse * scale + bias, inverse = 1 / sqrt(part * sum(centred^2) + epsilon),
 * centred = x - mean(x). Scale, bias and sums have `channels` as their shape. */
typedef struct batch_norm {
    int x, centred, inverse, scale, bias;
    float part; /* 1 / the number of elements of a channel */
    tsr_shape channels;
} batch_norm;

/* The node of this operator that made the value; NULL: another one did. Nodes move when others are
 * made. */
static const tsr_node *made_by(const tsr_gradient_call *g, int value, tsr_op op) {
    int producer = g->b.graph->values[value].producer;
    const tsr_node *node = producer == TSR_NONE ? NULL : &g->b.list->nodes[producer];
    return node && node->op == op ? node : NULL;
}

/* Input 0 of the node of this operator that made the value; TSR_NONE: another one did. */
static int input_of(const tsr_gradient_call *g, int value, tsr_op op) {
    const tsr_node *node = value == TSR_NONE ? NULL : made_by(g, value, op);
    return node ? node->inputs[0] : TSR_NONE;
}

static bool has_shape(const tsr_gradient_call *g, int value, const tsr_shape *shape) {
    const tsr_shape has = tsr_grad_shape(g, value);
    return tsr_shape_equal(&has, shape);
}

static bool is_number(const tsr_gradient_call *g, int value, float number) {
    const tsr_value *v = &g->b.graph->values[value];
    return v->data && v->dtype == TSR_DTYPE_F32 && tsr_shape_count(&v->shape) == 1 &&
           *(const tsr_unaligned_float *)v->data == number;
}

/* Is it computed from what is centred, and by nothing that a gradient is asked of? */
static bool match_inverse(const tsr_gradient_call *g, const batch_norm *n) {
    const int root = input_of(g, n->inverse, TSR_OP_Reciprocal),
              sum = input_of(g, root, TSR_OP_Sqrt), variance = input_of(g, sum, TSR_OP_Add),
              squares = input_of(g, variance, TSR_OP_Mul);
    return squares != TSR_NONE && g->b.graph->values[made_by(g, sum, TSR_OP_Add)->inputs[1]].data &&
           is_number(g, made_by(g, variance, TSR_OP_Mul)->inputs[1], n->part) &&
           input_of(g, squares, TSR_OP_ReduceSumSquare) == n->centred &&
           has_shape(g, squares, &n->channels) && has_shape(g, n->inverse, &n->channels) &&
           !tsr_grad_is_asked(g, root) && !tsr_grad_is_asked(g, sum) &&
           !tsr_grad_is_asked(g, variance) && !tsr_grad_is_asked(g, squares);
}

static bool match(const tsr_gradient_call *g, batch_norm *n) {
    const tsr_node *scaled = made_by(g, g->node->inputs[0], TSR_OP_Mul),
                   *normal = scaled ? made_by(g, scaled->inputs[0], TSR_OP_Mul) : NULL,
                   *centred = normal ? made_by(g, normal->inputs[0], TSR_OP_Sub) : NULL;
    if (g->node->op != TSR_OP_Add || !centred)
        return false;
    const tsr_shape shape = tsr_grad_shape(g, centred->inputs[0]);
    const int mean = centred->inputs[1];
    *n = (batch_norm){.x = centred->inputs[0],
                      .centred = centred->outputs[0],
                      .inverse = normal->inputs[1],
                      .scale = scaled->inputs[1],
                      .bias = g->node->inputs[1],
                      .channels = {.rank = shape.rank}};
    for (int i = 0; i < shape.rank; i++)
        n->channels.dim[i] = i == 1 ? shape.dim[i] : 1;
    n->part = 1 / ((float)tsr_shape_count(&shape) / (float)tsr_shape_count(&n->channels));
    return input_of(g, mean, TSR_OP_ReduceMean) == n->x && has_shape(g, mean, &n->channels) &&
           has_shape(g, n->scale, &n->channels) && has_shape(g, n->bias, &n->channels) &&
           !tsr_grad_is_asked(g, mean) && !tsr_grad_is_asked(g, n->inverse) &&
           !tsr_grad_is_asked(g, n->centred) && !tsr_grad_is_asked(g, normal->outputs[0]) &&
           !tsr_grad_is_asked(g, scaled->outputs[0]) && match_inverse(g, n);
}

/* dscale = sum(dy * centred) * inverse; dx = (dy - (centred * inverse * dscale + sum(dy)) / count)
 * * scale * inverse, a chain that GPUs compute in a pass (Ioffe, Szegedy 2015, arXiv:1502.03167).
 */
bool tsr_gradient_batch_norm(tsr_gradient_call *g) {
    batch_norm n;
    if (g->b.status != TSR_OK || !match(g, &n))
        return false;
    int sum = tsr_grad_sum_to(g, g->dy, &n.channels),
        along = tsr_grad_sum_to(g, DO(Mul, g->dy, n.centred), &n.channels),
        of_scale = DO(Mul, along, n.inverse);
    tsr_grad_give_value(g, n.bias, sum);
    tsr_grad_give_value(g, n.scale, of_scale);
    int rest = DO(Add, DO(Mul, DO(Mul, n.centred, of_scale), n.inverse), sum),
        difference = DO(Sub, g->dy, tsr_grad_scale(g, rest, n.part));
    tsr_grad_give_value(g, n.x, DO(Mul, DO(Mul, difference, n.scale), n.inverse));
    return true;
}
