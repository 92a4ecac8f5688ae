/* Gradients of normalizations and of Softmax. */
#include "passes/gradient_rules.h"

#include "base/error.h"

#define DO(Op, ...) TSR_GRAD(g, Op, __VA_ARGS__)

/* [C] along axis 1 of tensors of a rank. */
static tsr_shape by_channel(int rank, int64_t channels) {
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == 1 ? channels : 1;
    return shape;
}

/* Gives an input that multiplies or is added, of which `value` is the gradient before it is summed
 * to `seen`: the input's shape among the axes of x. */
static void give_parameter(tsr_gradient_call *g, int i, int value, const tsr_shape *seen) {
    const tsr_shape shape = tsr_grad_shape(g, g->node->inputs[i]);
    tsr_grad_give(g, i, tsr_grad_reshape(g, tsr_grad_sum_to(g, value, seen), &shape));
}

/* 1 / sqrt(variance + epsilon) */
static int invert(tsr_gradient_call *g, int variance) {
    int epsilon = tsr_build_number(&g->b, tsr_attr_float(g->node, "epsilon", 1e-5f));
    return DO(Reciprocal, DO(Sqrt, DO(Add, variance, epsilon)));
}

/* ---- BatchNormalization ---- */

/* An input [C] as [1, C, 1, ...], of the type of dy. */
static int statistic(tsr_gradient_call *g, int i, const tsr_shape *seen) {
    int value = g->node->inputs[i];
    if (g->b.graph->values[value].dtype != g->b.graph->values[g->dy].dtype)
        value = tsr_build_cast_like(&g->b, value, g->dy);
    return tsr_grad_reshape(g, value, seen);
}

/* y = (x - mean) * inverse * scale + bias, the inverse being that of the deviation. */
void tsr_gradient_batch_normalization(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x), seen = by_channel(shape.rank, shape.dim[1]);
    const int scale = statistic(g, 1, &seen), inverse = invert(g, statistic(g, 4, &seen));
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, DO(Mul, g->dy, DO(Mul, scale, inverse)));
    if (tsr_grad_wants(g, 2))
        give_parameter(g, 2, g->dy, &seen);
    if (tsr_grad_wants(g, 3)) {
        int sum = tsr_grad_sum_to(g, g->dy, &seen);
        give_parameter(g, 3, DO(Neg, DO(Mul, sum, DO(Mul, scale, inverse))), &seen);
    }
    if (!tsr_grad_wants(g, 1) && !tsr_grad_wants(g, 4))
        return;
    int centred = DO(Mul, g->dy, DO(Sub, g->x, statistic(g, 3, &seen)));
    int of_scale = DO(Mul, tsr_grad_sum_to(g, centred, &seen), inverse);
    if (tsr_grad_wants(g, 4)) {
        int squared = DO(Mul, inverse, inverse);
        int slope = DO(Mul, tsr_grad_scale(g, scale, -0.5f), squared);
        give_parameter(g, 4, DO(Mul, of_scale, slope), &seen);
    }
    if (tsr_grad_wants(g, 1))
        give_parameter(g, 1, of_scale, &seen);
}

/* ---- InstanceNormalization, LayerNormalization ---- */

/* y = normal * scale + bias with normal = (x - mean) * inverse, mean and variance being those over
 * some axes. seen: the shape of scale and bias among the axes of x. */
static void give_normalization(tsr_gradient_call *g, int count, const int64_t *axes,
                               const tsr_shape *seen) {
    int centred = DO(Sub, g->x, tsr_grad_reduce(g, TSR_OP_ReduceMean, g->x, count, axes));
    int squares = DO(Mul, centred, centred);
    int inverse = invert(g, tsr_grad_reduce(g, TSR_OP_ReduceMean, squares, count, axes));
    int normal = DO(Mul, centred, inverse);
    if (tsr_grad_wants(g, 2))
        give_parameter(g, 2, g->dy, seen);
    if (tsr_grad_wants(g, 1))
        give_parameter(g, 1, DO(Mul, g->dy, normal), seen);
    if (!tsr_grad_wants(g, 0))
        return;
    /* inverse * (d - mean(d) - normal * mean(d * normal)), d = dy * scale */
    int d = DO(Mul, g->dy, tsr_grad_reshape(g, g->node->inputs[1], seen));
    int mean = tsr_grad_reduce(g, TSR_OP_ReduceMean, d, count, axes),
        along = tsr_grad_reduce(g, TSR_OP_ReduceMean, DO(Mul, d, normal), count, axes);
    int rest = DO(Sub, DO(Sub, d, mean), DO(Mul, normal, along));
    tsr_grad_give(g, 0, DO(Mul, rest, inverse));
}

void tsr_gradient_instance_normalization(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x), seen = by_channel(shape.rank, shape.dim[1]);
    int64_t axes[TSR_MAX_RANK];
    for (int i = 2; i < shape.rank; i++)
        axes[i - 2] = i;
    give_normalization(g, shape.rank - 2, axes, &seen);
}

/* Outputs 1 and 2 of LayerNormalization: the mean, and 1 / sqrt(variance + epsilon), whose slope is
 * -(x - mean) / count times its cube. */
static void give_statistics(tsr_gradient_call *g, int count, const int64_t *axes) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int of_mean = tsr_grad_of_output(g, 1), of_inverse = tsr_grad_of_output(g, 2);
    int64_t elements = 1;
    for (int i = 0; i < count; i++)
        elements *= shape.dim[axes[i]];
    const float part = 1 / (float)elements;
    if (of_mean != TSR_NONE)
        tsr_grad_give(g, 0, tsr_grad_scale(g, of_mean, part));
    if (of_inverse == TSR_NONE)
        return;
    int inverse = g->node->outputs[2];
    int cube = DO(Mul, DO(Mul, inverse, inverse), inverse);
    int factor = DO(Mul, cube, tsr_grad_scale(g, of_inverse, -part));
    int centred = DO(Sub, g->x, tsr_grad_reduce(g, TSR_OP_ReduceMean, g->x, count, axes));
    tsr_grad_give(g, 0, DO(Mul, centred, factor));
}

void tsr_gradient_layer_normalization(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int64_t axes[TSR_MAX_RANK];
    const int first = tsr_grad_axis(g, -1), count = shape.rank - first;
    const bool has_statistics =
        tsr_grad_of_output(g, 1) != TSR_NONE || tsr_grad_of_output(g, 2) != TSR_NONE;
    for (int i = 0; i < count; i++)
        axes[i] = first + i;
    if (has_statistics && g->b.graph->values[g->x].dtype != TSR_DTYPE_F32)
        tsr_grad_refuse(g, "mean and deviation, which have another type than its input,");
    if (has_statistics && tsr_grad_wants(g, 0))
        give_statistics(g, count, axes);
    if (g->dy == TSR_NONE)
        return;
    const tsr_shape seen = tsr_shape_make(count, shape.dim + first);
    give_normalization(g, count, axes, &seen);
}

/* ---- Softmax, LogSoftmax ---- */

/* The sum over what they normalize: an axis, or with coerce_2d that and those after it. */
static int sum_classes(tsr_gradient_call *g, int value) {
    int64_t axes[TSR_MAX_RANK];
    int rank = tsr_grad_shape(g, g->x).rank, first = tsr_grad_axis(g, -1), count = 1;
    if (tsr_attr_int(g->node, "coerce_2d", 0))
        count = rank - first;
    for (int i = 0; i < count; i++)
        axes[i] = first + i;
    return tsr_grad_reduce(g, TSR_OP_ReduceSum, value, count, axes);
}

/* (dy - sum(dy * y)) * y */
void tsr_gradient_softmax(tsr_gradient_call *g) {
    int sum = sum_classes(g, DO(Mul, g->dy, g->y));
    tsr_grad_give(g, 0, DO(Mul, DO(Sub, g->dy, sum), g->y));
}

/* dy - exp(y) * sum(dy) */
void tsr_gradient_log_softmax(tsr_gradient_call *g) {
    int part = DO(Mul, DO(Exp, g->y), sum_classes(g, g->dy));
    tsr_grad_give(g, 0, DO(Sub, g->dy, part));
}
