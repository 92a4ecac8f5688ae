/* Random operators, and Dropout in training. Numbers are constants of the session: the same on
 * every backend and in every run, since a seed fixes them. */
#include "passes/functions.h"

#include "base/error.h"
#include "base/random.h"
#include "graph/rules.h"

#include <string.h>

/* By the attribute `seed`, an integer or a float; without it by the node's name, so that nodes
 * differ. */
static tsr_random random_of(const tsr_node *node) {
    const tsr_attr *given = tsr_node_attr(node, "seed");
    uint32_t seed = 2166136261u; /* FNV-1a */
    for (const char *at = node->name; *at; at++)
        seed = (seed ^ (unsigned char)*at) * 16777619u;
    if (given && given->kind == TSR_ATTR_INT)
        seed = (uint32_t)given->i;
    else if (given)
        seed = (uint32_t)tsr_dtype_int_of_float(TSR_DTYPE_I64, given->f);
    tsr_random r;
    tsr_random_seed(&r, seed);
    return r;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* `low` and `high`, or `mean` and `scale`, which default to 0 and 1. */
static int random_tensor(tsr_builder *b, tsr_dtype dtype, const tsr_shape *shape, bool normal) {
    if (b->status == TSR_OK && !tsr_dtype_is_float(dtype))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "random numbers of type %s",
                                   tsr_dtype_name(dtype)));
    int64_t count = tsr_shape_count(shape);
    float *numbers = tsr_build_elements(b, count, sizeof *numbers);
    if (!numbers)
        return TSR_NONE;
    tsr_random r = random_of(b->node);
    double first = tsr_attr_float(b->node, normal ? "mean" : "low", 0),
           second = tsr_attr_float(b->node, normal ? "scale" : "high", 1);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (float)(normal ? first + second * tsr_random_normal(&r)
                                    : first + (second - first) * tsr_random_uniform(&r));
    return tsr_add_constant(b->graph, b->node->name, "random", dtype, shape, numbers);
}

static tsr_dtype read_dtype(tsr_builder *b, tsr_dtype default_value) {
    tsr_dtype dtype = default_value;
    int64_t number = tsr_attr_int(b->node, "dtype", tsr_dtype_to_onnx(default_value));
    if (!tsr_dtype_from_onnx(number, &dtype))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                   "attribute 'dtype' is %lld, no data type that is supported",
                                   (long long)number));
    return dtype;
}

/* RandomUniform, RandomNormal: of the attribute `shape`; those of "Like": of the input's. */
static void build_random(tsr_builder *b, bool normal, bool like) {
    tsr_shape shape = {.rank = 0};
    if (like) {
        shape = tsr_node_in(b->graph, b->node, 0)->shape;
    } else {
        int count;
        const int64_t *dims = tsr_attr_ints(b->node, "shape", &count);
        if (count > TSR_MAX_RANK)
            tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED, "%d axes", count));
        else
            shape = tsr_shape_make(count, dims);
        if (b->status == TSR_OK && tsr_shape_count(&shape) < 0)
            tsr_build_fail(b,
                           tsr_fail(TSR_ERROR_INVALID_MODEL, "shape %s", tsr_shape_text(&shape)));
    }
    tsr_dtype usual = like ? tsr_node_in(b->graph, b->node, 0)->dtype : TSR_DTYPE_F32;
    TSR_BUILD(b, TSR_OP_Identity, random_tensor(b, read_dtype(b, usual), &shape, normal));
}

void tsr_build_random_uniform(tsr_builder *b) {
    build_random(b, false, false);
}

void tsr_build_random_normal(tsr_builder *b) {
    build_random(b, true, false);
}

void tsr_build_random_uniform_like(tsr_builder *b) {
    build_random(b, false, true);
}

void tsr_build_random_normal_like(tsr_builder *b) {
    build_random(b, true, true);
}

/* 1 with the probability that the input gives. */
void tsr_build_bernoulli(tsr_builder *b) {
    const tsr_value x = *tsr_node_in(b->graph, b->node, 0);
    const tsr_attr to = tsr_int_attr("to", tsr_dtype_to_onnx(read_dtype(b, x.dtype)));
    int chosen =
        TSR_BUILD(b, TSR_OP_Less, random_tensor(b, x.dtype, &x.shape, false), b->node->inputs[0]);
    tsr_build_with(b, TSR_OP_Cast, 1, &chosen, 1, &to);
}

/* Of logarithms [batch, classes]: as many classes as their sums up to there are at most a random
 * number. */
void tsr_build_multinomial(tsr_builder *b) {
    const tsr_value x = *tsr_node_in(b->graph, b->node, 0);
    const int64_t samples = tsr_attr_int(b->node, "sample_size", 1), classes = 1;
    tsr_build_fail(b, tsr_require_rank(&x, 2, 2));
    if (b->status == TSR_OK && (samples < 1 || samples > TSR_MAX_DIM || x.shape.dim[1] < 1))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "%lld samples of %lld classes",
                                   (long long)samples, (long long)x.shape.dim[1]));
    if (b->status != TSR_OK)
        return;
    const int64_t most = x.shape.dim[1] - 1, none = 0;
    const tsr_attr axis = tsr_int_attr("axis", 1), drop = tsr_int_attr("keepdims", 0),
                   to = tsr_int_attr("to", tsr_dtype_to_onnx(read_dtype(b, TSR_DTYPE_I32)));
    int shares = tsr_build_with(b, TSR_OP_Softmax, 1, b->node->inputs, 1, &axis);
    int sums = TSR_BUILD(b, TSR_OP_CumSum, shares, tsr_build_ints(b, 1, &classes));
    /* the last class has what rounding left over */
    int all_but_last = TSR_BUILD(b, TSR_OP_Slice, sums, tsr_build_ints(b, 1, &none),
                                 tsr_build_ints(b, 1, &most), tsr_build_ints(b, 1, &classes));
    int at = tsr_build_reshape(b, all_but_last, &(tsr_shape){3, {x.shape.dim[0], most, 1}});
    int numbers = random_tensor(b, x.dtype, &(tsr_shape){3, {x.shape.dim[0], 1, samples}}, false);
    int passed = tsr_build_cast_like(b, TSR_BUILD(b, TSR_OP_LessOrEqual, at, numbers), numbers);
    const int inputs[] = {passed, tsr_build_ints(b, 1, &classes)};
    int chosen = tsr_build_with(b, TSR_OP_ReduceSum, 2, inputs, 1, &drop);
    tsr_build_with(b, TSR_OP_Cast, 1, &chosen, 1, &to);
}

/* ---- Dropout --------------------------------------------------------------------------------- */

static bool scalar_is(const tsr_value *v, bool (*test)(const tsr_value *v)) {
    return v && v->data && tsr_shape_count(&v->shape) == 1 && test(v);
}

static bool is_true(const tsr_value *v) {
    return v->dtype == TSR_DTYPE_BOOL && *(const int64_t *)v->data != 0;
}

static bool is_zero(const tsr_value *v) {
    return tsr_dtype_is_float(v->dtype) && *(const tsr_unaligned_float *)v->data == 0;
}

bool tsr_drops(const tsr_graph *graph, const tsr_node *node) {
    return scalar_is(tsr_node_in(graph, node, 2), is_true) &&
           !scalar_is(tsr_node_in(graph, node, 1), is_zero);
}

/* In training: elements with a random number below the ratio are dropped, others scaled. */
void tsr_build_dropout(tsr_builder *b) {
    const tsr_value x = *tsr_node_in(b->graph, b->node, 0),
                    *given = tsr_node_in(b->graph, b->node, 1);
    tsr_build_fail(b, tsr_require_float(b->graph, b->node, 1));
    tsr_build_fail(b, tsr_require_scalar(given));
    if (b->status == TSR_OK && given && (!given->data || !tsr_dtype_is_float(given->dtype)))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                   "in training mode the ratio ('%s') has to "
                                   "be a constant of a floating type",
                                   given->name));
    if (b->status != TSR_OK)
        return;
    double ratio = given ? (double)*(const tsr_unaligned_float *)given->data : 0.5;
    if (!(ratio >= 0 && ratio < 1)) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "the ratio is not in [0, 1)"));
        return;
    }
    int64_t count = tsr_shape_count(&x.shape), *kept = tsr_build_elements(b, count, sizeof *kept);
    tsr_random r = random_of(b->node);
    for (int64_t i = 0; kept && i < count; i++)
        kept[i] = tsr_random_uniform(&r) >= ratio;
    if (!kept)
        return;
    int mask = tsr_add_constant(b->graph, b->node->name, "mask", TSR_DTYPE_BOOL, &x.shape, kept);
    tsr_build_output(b, 1, mask);
    int scaled =
        TSR_BUILD(b, TSR_OP_Mul, b->node->inputs[0], tsr_build_number(b, (float)(1 / (1 - ratio))));
    TSR_BUILD(b, TSR_OP_Mul, scaled, tsr_build_cast_like(b, mask, b->node->inputs[0]));
}
