#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <float.h>
#include <string.h>

static const tsr_shape *shape_of(const tsr_builder *b, int value) {
    static const tsr_shape none = {0};
    return value == TSR_NONE ? &none : &b->graph->values[value].shape;
}

static const tsr_shape *input_shape(const tsr_builder *b) {
    return shape_of(b, b->node->inputs[0]);
}

/* Over some axes, which are kept. */
static int reduce(tsr_builder *b, tsr_op op, int value, int count, const int64_t *axes) {
    return TSR_BUILD(b, op, value, tsr_build_ints(b, count, axes));
}

static int read_axis(tsr_builder *b, int64_t default_value) {
    int axis = 0;
    tsr_build_fail(b, tsr_normalize_axis(tsr_attr_int(b->node, "axis", default_value),
                                         input_shape(b)->rank, &axis));
    return axis;
}

/* ---- softmax's kin --------------------------------------------------------------------------- */

/* 1 at the first of the largest elements along an axis, 0 elsewhere. */
void tsr_build_hardmax(tsr_builder *b) {
    bool coerce = tsr_attr_int(b->node, "coerce_2d", 0) != 0;
    int x = b->node->inputs[0], axis = read_axis(b, -1);
    const tsr_shape shape = *input_shape(b);
    if (coerce) {
        const tsr_shape flat = {
            2, {tsr_dim_product(&shape, 0, axis), tsr_dim_product(&shape, axis, shape.rank)}};
        x = tsr_build_reshape(b, x, &flat);
        axis = 1;
    }
    const tsr_attr along = tsr_int_attr("axis", axis);
    const tsr_shape seen = *shape_of(b, x);
    int largest = tsr_build_with(b, TSR_OP_ArgMax, 1, &x, 1, &along);
    int indices = tsr_build_indices(b, TSR_DTYPE_I64, seen.dim[axis], axis, seen.rank);
    int result =
        tsr_build_cast_like(b, TSR_BUILD(b, TSR_OP_Equal, indices, largest), b->node->inputs[0]);
    if (coerce)
        tsr_build_reshape(b, result, &shape);
}

/* ---- normalizations -------------------------------------------------------------------------- */

/* Zeros stay zeros. */
void tsr_build_lp_normalization(tsr_builder *b) {
    int x = b->node->inputs[0];
    const int64_t axis = read_axis(b, -1), p = tsr_attr_int(b->node, "p", 2);
    if (p != 1 && p != 2) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"p\" is %lld, not 1 or 2",
                                   (long long)p));
        return;
    }
    int norm = reduce(b, p == 1 ? TSR_OP_ReduceL1 : TSR_OP_ReduceL2, x, 1, &axis);
    TSR_BUILD(b, TSR_OP_Div, x, TSR_BUILD(b, TSR_OP_Max, norm, tsr_build_number(b, FLT_MIN)));
}

void tsr_build_mean_variance_normalization(tsr_builder *b) {
    static const int64_t usual[] = {0, 2, 3};
    const tsr_attr *given = tsr_node_attr(b->node, "axes");
    const int64_t *axes = given ? given->ints : usual;
    int count = given ? given->count : 3, x = b->node->inputs[0];
    int difference = TSR_BUILD(b, TSR_OP_Sub, x, reduce(b, TSR_OP_ReduceMean, x, count, axes));
    int square = TSR_BUILD(b, TSR_OP_Mul, difference, difference);
    int deviation = TSR_BUILD(b, TSR_OP_Sqrt, reduce(b, TSR_OP_ReduceMean, square, count, axes));
    TSR_BUILD(b, TSR_OP_Div, difference,
              TSR_BUILD(b, TSR_OP_Add, deviation, tsr_build_number(b, 1e-9f)));
}

/* Each group of channels as a channel of an InstanceNormalization. */
void tsr_build_group_normalization(tsr_builder *b) {
    const tsr_shape shape = *input_shape(b);
    const int *in = b->node->inputs;
    int64_t groups = tsr_attr_int(b->node, "num_groups", 0);
    if (shape.rank < 2 || groups < 1 || groups > TSR_MAX_DIM || shape.dim[1] % groups != 0) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "%lld groups of the channels of %s",
                                   (long long)groups, tsr_shape_text(&shape)));
        return;
    }
    bool by_group = tsr_attr_int(b->node, "by_group", 0) != 0;
    int64_t channels = shape.dim[1], inner = tsr_dim_product(&shape, 2, shape.rank);
    for (int i = 1; i < 3; i++)
        tsr_build_fail(b,
                       tsr_require_vector(&b->graph->values[in[i]], by_group ? groups : channels));
    if (b->status != TSR_OK)
        return;
    const tsr_shape grouped = {3, {shape.dim[0], groups, channels / groups * inner}},
                    parts = {4, {shape.dim[0], groups, channels / groups, inner}},
                    factors = {3, {by_group ? groups : channels, 1, 1}}, one = {1, {groups}},
                    flat = {3, {shape.dim[0], channels, inner}};
    float *ones = tsr_build_elements(b, 2 * groups, sizeof *ones); /* and zeros */
    if (!ones)
        return;
    for (int64_t i = 0; i < groups; i++)
        ones[i] = 1;
    const int inputs[] = {tsr_build_reshape(b, in[0], &grouped), tsr_build_floats(b, &one, ones),
                          tsr_build_floats(b, &one, ones + groups)};
    const tsr_attr epsilon = {
        .name = "epsilon", .kind = TSR_ATTR_FLOAT, .f = tsr_attr_float(b->node, "epsilon", 1e-5f)};
    int normal = tsr_build_with(b, TSR_OP_InstanceNormalization, 3, inputs, 1, &epsilon);
    int seen = tsr_build_reshape(b, normal, by_group ? &parts : &flat);
    int scaled = TSR_BUILD(
        b, TSR_OP_Mul, seen,
        tsr_build_reshape(b, in[1], by_group ? &factors : &(tsr_shape){2, {channels, 1}}));
    int moved = TSR_BUILD(
        b, TSR_OP_Add, scaled,
        tsr_build_reshape(b, in[2], by_group ? &factors : &(tsr_shape){2, {channels, 1}}));
    tsr_build_reshape(b, moved, &shape);
}

void tsr_build_rms_normalization(tsr_builder *b) {
    int x = b->node->inputs[0], first = read_axis(b, -1), rank = input_shape(b)->rank;
    int64_t axes[TSR_MAX_RANK];
    for (int i = first; i < rank; i++)
        axes[i - first] = i;
    int square = reduce(b, TSR_OP_ReduceMean, TSR_BUILD(b, TSR_OP_Mul, x, x), rank - first, axes);
    int sum = TSR_BUILD(b, TSR_OP_Add, square,
                        tsr_build_number(b, tsr_attr_float(b->node, "epsilon", 1e-5f)));
    int normal = TSR_BUILD(b, TSR_OP_Div, x, TSR_BUILD(b, TSR_OP_Sqrt, sum));
    TSR_BUILD(b, TSR_OP_Mul, normal, b->node->inputs[1]);
}

/* x / (bias + alpha * m) ^ beta, with m the mean of the squares of `size` adjacent channels, those
 * beyond the first and the last being zero. */
void tsr_build_lrn(tsr_builder *b) {
    const tsr_node *node = b->node;
    const tsr_shape shape = *input_shape(b);
    int64_t size = tsr_attr_int(node, "size", 0);
    if (shape.rank < 2 || size < 1 || size > TSR_MAX_DIM) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "size %lld of a tensor of shape %s",
                                   (long long)size, tsr_shape_text(&shape)));
        return;
    }
    const tsr_shape seen = {
        4, {shape.dim[0], 1, shape.dim[1], tsr_dim_product(&shape, 2, shape.rank)}};
    const int64_t kernel[] = {size, 1}, pads[] = {(size - 1) / 2, 0, size / 2, 0};
    int x = node->inputs[0], square = tsr_build_reshape(b, TSR_BUILD(b, TSR_OP_Mul, x, x), &seen);
    const tsr_attr attrs[] = {tsr_build_ints_attr(b, "kernel_shape", 2, kernel),
                              tsr_build_ints_attr(b, "pads", 4, pads),
                              tsr_int_attr("count_include_pad", 1)};
    int means = tsr_build_with(b, TSR_OP_AveragePool, 1, &square, 3, attrs);
    int scaled = TSR_BUILD(b, TSR_OP_Mul, tsr_build_reshape(b, means, &shape),
                           tsr_build_number(b, tsr_attr_float(node, "alpha", 1e-4f)));
    int base =
        TSR_BUILD(b, TSR_OP_Add, scaled, tsr_build_number(b, tsr_attr_float(node, "bias", 1)));
    int power =
        TSR_BUILD(b, TSR_OP_Pow, base, tsr_build_number(b, tsr_attr_float(node, "beta", 0.75f)));
    TSR_BUILD(b, TSR_OP_Div, x, power);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Targets [N, d...] seen as [N, 1, d...]. */
static int at_classes(tsr_builder *b, int targets, const tsr_shape *shape) {
    tsr_shape seen = *shape;
    seen.dim[1] = 1;
    return tsr_build_reshape(b, targets, &seen);
}

static tsr_status check_targets(const tsr_builder *b) {
    const tsr_shape *x = input_shape(b), *targets = shape_of(b, b->node->inputs[1]);
    bool fits = x->rank >= 2 && targets->rank == x->rank - 1 && targets->dim[0] == x->dim[0];
    for (int i = 2; fits && i < x->rank; i++)
        fits = targets->dim[i - 1] == x->dim[i];
    if (!fits)
        return tsr_fail(TSR_ERROR_SHAPE, "targets of shape %s for scores of shape %s",
                        tsr_shape_text(targets), tsr_shape_text(x));
    tsr_dtype dtype = b->graph->values[b->node->inputs[1]].dtype;
    if (dtype != TSR_DTYPE_I32 && dtype != TSR_DTYPE_I64)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "targets of type %s", tsr_dtype_name(dtype));
    return TSR_OK;
}

/* Of logarithms of probabilities [N, C, d...]: minus that of each target's class times the class's
 * weight; targets of ignore_index count nothing. */
static void build_losses(tsr_builder *b, int logs) {
    static const char *const names[] = {"mean", "none", "sum"};
    const tsr_node *node = b->node;
    const tsr_shape shape = *input_shape(b);
    int reduction = 0;
    tsr_build_fail(b, check_targets(b));
    tsr_build_fail(b, tsr_read_choice(node, "reduction", names, 3, &reduction));
    if (b->status != TSR_OK)
        return;
    int weights = node->input_count > 2 ? node->inputs[2] : TSR_NONE;
    tsr_dtype dtype = b->graph->values[node->inputs[1]].dtype;
    int targets = at_classes(b, node->inputs[1], &shape);
    int is_target = TSR_BUILD(b, TSR_OP_Equal, targets,
                              tsr_build_indices(b, dtype, shape.dim[1], 1, shape.rank));
    int zero = tsr_build_number(b, 0), factors = tsr_build_number(b, 1);
    if (tsr_node_attr(node, "ignore_index")) {
        int64_t *ignored = tsr_build_elements(b, 1, sizeof *ignored);
        if (!ignored)
            return;
        *ignored = tsr_attr_int(node, "ignore_index", 0);
        int number =
            tsr_add_constant(b->graph, node->name, "ignored", dtype, &(tsr_shape){0}, ignored);
        int counts = TSR_BUILD(b, TSR_OP_Not, TSR_BUILD(b, TSR_OP_Equal, targets, number));
        is_target = TSR_BUILD(b, TSR_OP_And, is_target, counts);
    }
    if (weights != TSR_NONE) {
        tsr_shape along = {.rank = shape.rank};
        for (int i = 0; i < shape.rank; i++)
            along.dim[i] = i == 1 ? shape.dim[1] : 1;
        tsr_build_fail(b, tsr_require_vector(&b->graph->values[weights], shape.dim[1]));
        factors = b->status == TSR_OK ? tsr_build_reshape(b, weights, &along) : TSR_NONE;
    }
    const int64_t classes = 1;
    int of_targets = reduce(b, TSR_OP_ReduceSum,
                            TSR_BUILD(b, TSR_OP_Where, is_target, factors, zero), 1, &classes);
    int chosen =
        reduce(b, TSR_OP_ReduceSum, TSR_BUILD(b, TSR_OP_Where, is_target, logs, zero), 1, &classes);
    int losses = TSR_BUILD(b, TSR_OP_Neg, TSR_BUILD(b, TSR_OP_Mul, chosen, of_targets));
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    if (reduction == 1) {
        tsr_build_reshape(b, losses, shape_of(b, node->inputs[1]));
        return;
    }
    int sum = tsr_build_with(b, TSR_OP_ReduceSum, 1, &losses, 1, &drop);
    if (reduction == 0)
        TSR_BUILD(b, TSR_OP_Div, sum,
                  tsr_build_with(b, TSR_OP_ReduceSum, 1, &of_targets, 1, &drop));
}

void tsr_build_softmax_cross_entropy(tsr_builder *b) {
    const tsr_attr classes = tsr_int_attr("axis", 1);
    int logs = tsr_build_with(b, TSR_OP_LogSoftmax, 1, b->node->inputs, 1, &classes);
    tsr_build_output(b, 1, logs);
    build_losses(b, logs);
}

/* ---- BatchNormalization in training ---------------------------------------------------------- */

/* momentum * old + (1 - momentum) * now */
static int move_average(tsr_builder *b, int old, int now) {
    float momentum = tsr_attr_float(b->node, "momentum", 0.9f);
    if (momentum == 0)
        return now;
    return tsr_build_average(b, old, tsr_build_number(b, 1 - momentum), now);
}

/* By mean and variance of the batch; outputs 1 and 2 are the moving averages. gradient_batch_norm.c
 * knows what it makes. */
static void build_training_batch_norm(tsr_builder *b) {
    const int *in = b->node->inputs;
    const tsr_shape shape = *input_shape(b);
    if (shape.rank < 2) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "%s has no channels", tsr_shape_text(&shape)));
        return;
    }
    int64_t axes[TSR_MAX_RANK], channels = shape.dim[1];
    for (int i = 1; i < 5; i++)
        tsr_build_fail(b, tsr_require_vector(&b->graph->values[in[i]], channels));
    tsr_shape factors = {.rank = shape.rank};
    for (int i = 0; i < shape.rank; i++) {
        axes[i < 2 ? 0 : i - 1] = i == 1 ? 0 : i;
        factors.dim[i] = i == 1 ? channels : 1;
    }
    const tsr_shape list = {1, {channels}};
    int mean = reduce(b, TSR_OP_ReduceMean, in[0], shape.rank - 1, axes);
    int difference = TSR_BUILD(b, TSR_OP_Sub, in[0], mean);
    int squares = reduce(b, TSR_OP_ReduceSumSquare, difference, shape.rank - 1, axes);
    float count = (float)tsr_shape_count(&shape) / (float)channels;
    int variance = TSR_BUILD(b, TSR_OP_Mul, squares, tsr_build_number(b, 1 / count));
    tsr_build_output(b, 1, move_average(b, in[3], tsr_build_reshape(b, mean, &list)));
    tsr_build_output(b, 2, move_average(b, in[4], tsr_build_reshape(b, variance, &list)));
    int sum = TSR_BUILD(b, TSR_OP_Add, variance,
                        tsr_build_number(b, tsr_attr_float(b->node, "epsilon", 1e-5f)));
    int inverse = TSR_BUILD(b, TSR_OP_Reciprocal, TSR_BUILD(b, TSR_OP_Sqrt, sum)),
        normal = TSR_BUILD(b, TSR_OP_Mul, difference, inverse),
        scaled = TSR_BUILD(b, TSR_OP_Mul, normal, tsr_build_reshape(b, in[1], &factors));
    TSR_BUILD(b, TSR_OP_Add, scaled, tsr_build_reshape(b, in[2], &factors));
}

/* ---- the table ------------------------------------------------------------------------------- */

void tsr_build_nll(tsr_builder *b) {
    build_losses(b, b->node->inputs[0]);
}

void tsr_build_cast_like_input(tsr_builder *b) {
    tsr_build_cast_like(b, b->node->inputs[0], b->node->inputs[1]);
}

static tsr_function *const functions[TSR_OP_COUNT] = {
#define TSR_FUNCTION(Name, stem, ...) [TSR_OP_##Name] = tsr_build_##stem,
#include "graph/ops.def"
    [TSR_OP_BatchNormalization] = build_training_batch_norm,
    [TSR_OP_Dropout] = tsr_build_dropout,
    [TSR_OP_MaxPool] = tsr_build_byte_max_pool,
};

/* Of some operators only training is a function, or only integers are. */
bool tsr_is_function(const tsr_graph *graph, const tsr_node *node) {
    switch (node->op) {
    case TSR_OP_BatchNormalization:
        return tsr_attr_int(node, "training_mode", 0) != 0;
    case TSR_OP_Dropout:
        return tsr_drops(graph, node);
    case TSR_OP_MaxPool:
        return tsr_dtype_is_byte(tsr_node_in(graph, node, 0)->dtype);
    default:
        return node->op < TSR_OP_COUNT && functions[node->op] != NULL;
    }
}

bool tsr_is_random(const tsr_graph *graph, const tsr_node *node) {
    switch (node->op) {
    case TSR_OP_RandomUniform:
    case TSR_OP_RandomNormal:
    case TSR_OP_RandomUniformLike:
    case TSR_OP_RandomNormalLike:
    case TSR_OP_Bernoulli:
    case TSR_OP_Multinomial:
        return true;
    default:
        return node->op == TSR_OP_Dropout && tsr_drops(graph, node);
    }
}

void tsr_build_function(tsr_builder *b) {
    functions[b->node->op](b);
    tsr_build_end(b);
}
