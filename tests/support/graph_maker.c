#include "support/graph_maker.h"
#include "support/graph_maker_parts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ELEMENTS = 4096 };

float graph_element(uint32_t seed, const char *name, size_t i) {
    uint32_t hash = 2166136261u ^ seed; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    random_source random = random_from(hash + (uint32_t)i * 2654435761u);
    return *name == 'q'   ? random_float(&random, 0, 0.25f)
           : *name == 'p' ? random_float(&random, 1, 0.5f)
                          : random_float(&random, 0, 1);
}

static tsr_shape draw_shape_of_rank(random_source *random, int rank) {
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17, 33, 35};
    const int largest = rank > 4 ? 5 : 12; /* few of many axes */
    tsr_shape shape = {.rank = rank};
    do
        for (int i = 0; i < rank; i++)
            shape.dim[i] = i == 0 && rank > 2 ? random_int(random, 1, 2)
                                              : sizes[random_int(random, 0, largest)];
    while (tsr_shape_count(&shape) > MOST_ELEMENTS);
    return shape;
}

tsr_shape draw_shape(random_source *random) {
    static const int ranks[] = {4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 5, 0};
    return draw_shape_of_rank(random, ranks[random_int(random, 0, 11)]);
}

tsr_shape draw_shape_of_any_rank(random_source *random) {
    return draw_shape_of_rank(random, random_int(random, 0, 6));
}

/* ---- products ---- */

/* A matrix of these sizes, which an operand of a product may be; -1 if none is found. */
static int pick_matrix(node_maker *m, int64_t rows, int64_t columns) {
    for (int i = 0; i < TRIES; i++) {
        int y = pick(m, is_matrix);
        if (y >= 0 && shape_of(m, y)->dim[0] == rows && shape_of(m, y)->dim[1] == columns)
            return y;
    }
    return -1;
}

static void add_matrix(node_maker *m, int64_t rows, int64_t columns) {
    int y = one_in(m, 2) ? pick_matrix(m, rows, columns) : -1;
    if (y >= 0)
        text_add(&m->text, " $%d", y);
    else
        add_weights(m, 'w', 2, (int64_t[]){rows, columns});
}

static bool make_gemm(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_matrix), turn_a = draw(m, 0, 1), turn_b = draw(m, 0, 1);
    if (x < 0)
        return false;
    int64_t steps = shape_of(m, x)->dim[!turn_a], rows = shape_of(m, x)->dim[turn_a],
            columns = draw(m, 1, 19);
    begin(m, "Gemm", x);
    add_matrix(m, turn_b ? columns : steps, turn_b ? steps : columns);
    if (one_in(m, 2)) {
        int64_t dims[] = {one_in(m, 2) ? rows : 1, one_in(m, 2) ? columns : 1};
        int rank = draw(m, 0, 2);
        add_weights(m, 'w', rank, dims + 2 - rank);
    }
    add_outputs(m, 1);
    text_add(&m->text, " transA=%d transB=%d", turn_a, turn_b);
    if (one_in(m, 2))
        text_add(&m->text, " alpha=0.%d beta=1.%d", draw(m, 1, 9), draw(m, 0, 9));
    return true;
}

static bool make_matmul(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t steps = shape->dim[shape->rank - 1], columns = draw(m, 1, 19), dims[TSR_MAX_RANK];
    begin(m, "MatMul", x);
    if (shape->rank < 3 || one_in(m, 2)) {
        add_matrix(m, steps, columns);
    } else {
        memcpy(dims, shape->dim, sizeof dims);
        dims[shape->rank - 2] = steps;
        dims[shape->rank - 1] = columns;
        if (one_in(m, 2))
            dims[0] = 1;
        add_weights(m, 'w', shape->rank, dims);
    }
    add_outputs(m, 1);
    return true;
}

/* ---- normalization ---- */

static bool make_batch_normalization(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_channels);
    if (x < 0)
        return false;
    begin(m, "BatchNormalization", x);
    for (int i = 0; i < 4; i++)
        add_weights(m, "wwwp"[i], 1, &shape_of(m, x) -> dim[1]);
    bool training = one_in(m, 4);
    add_outputs(m, training ? 3 : 1);
    text_add(&m->text, " training_mode=%d momentum=0.%d", training, draw(m, 1, 9));
    if (one_in(m, 2))
        text_add(&m->text, " epsilon=0.0%d", draw(m, 1, 9));
    return true;
}

static bool make_instance_normalization(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    begin(m, "InstanceNormalization", x);
    for (int i = 0; i < 2; i++)
        add_weights(m, 'w', 1, &shape_of(m, x)->dim[1]);
    add_outputs(m, 1);
    text_add(&m->text, " epsilon=0.0%d", draw(m, 1, 9));
    return true;
}

static bool make_layer_normalization(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axes = one_in(m, 2) ? 1 : draw(m, 1, shape->rank);
    begin(m, "LayerNormalization", x);
    for (int i = draw(m, 1, 2); i > 0; i--)
        add_weights(m, 'w', axes, shape->dim + shape->rank - axes);
    add_outputs(m, one_in(m, 5) ? 3 : 1);
    text_add(&m->text, " axis=%d epsilon=0.0%d stash_type=1", -axes, draw(m, 1, 9));
    return true;
}

/* And what has an axis as it has. */
static bool make_softmax(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    int rank = shape_of(m, x)->rank;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", draw(m, -rank, rank - 1));
    if (op == TSR_OP_LpNormalization)
        text_add(&m->text, " p=%d", draw(m, 1, 2));
    return true;
}

/* ---- reductions, and functions made of them ---- */

static bool make_reduce(node_maker *m, tsr_op op) {
    bool logs = op == TSR_OP_ReduceLogSum;
    int x = pick(m, tsr_op_has(op, TSR_TYPES_NUMBERS) ? is_any : is_float);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t axes[TSR_MAX_RANK];
    int count = 0;
    for (int i = 0; i < shape->rank; i++)
        if (one_in(m, 2))
            axes[count++] = one_in(m, 2) ? i : i - shape->rank;
    if (logs) /* of what has a logarithm, and fits 16 bits */
        text_add(&m->text, "Tanh $%d -> t%d; Exp t%d -> e%d; %s e%d", x, m->node, m->node, m->node,
                 tsr_op_get_info(op)->name, m->node);
    else
        begin(m, tsr_op_get_info(op)->name, x);
    if (count)
        add_ints(m, axes, count);
    add_outputs(m, 1);
    text_add(&m->text, " keepdims=%d noop_with_empty_axes=%d", one_in(m, 2), one_in(m, 2));
    return true;
}

static bool make_arg(node_maker *m, tsr_op op) {
    int x = pick(m, has_axes);
    if (x < 0 || is_bool(&m->values[x]))
        return false;
    int rank = shape_of(m, x)->rank;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d keepdims=%d select_last_index=%d", draw(m, -rank, rank - 1),
             one_in(m, 2), one_in(m, 2));
    return true;
}

static bool make_mean_variance(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " axes=%d,", draw(m, 0, shape_of(m, x)->rank - 1));
    return true;
}

static bool make_group_normalization(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    int64_t channels = shape_of(m, x)->dim[1];
    begin(m, tsr_op_get_info(op)->name, x);
    for (int i = 0; i < 2; i++)
        add_weights(m, 'w', 1, &channels);
    add_outputs(m, 1);
    text_add(&m->text, " stash_type=1 epsilon=0.0%d num_groups=%d", draw(m, 1, 9),
             channels % 2 || one_in(m, 2) ? 1 : 2);
    return true;
}

static bool make_rms_normalization(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axes = draw(m, 1, shape->rank);
    begin(m, tsr_op_get_info(op)->name, x);
    add_weights(m, 'w', axes, shape->dim + shape->rank - axes);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d epsilon=0.0%d stash_type=1", -axes, draw(m, 1, 9));
    return true;
}

static bool make_lrn(node_maker *m, tsr_op op) {
    int x = pick(m, has_channels);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " size=%d alpha=0.%d beta=0.%d bias=1.%d", draw(m, 1, 5), draw(m, 1, 9),
             draw(m, 1, 9), draw(m, 0, 9));
    return true;
}

static bool make_cast_like(node_maker *m, tsr_op op) {
    begin(m, tsr_op_get_info(op)->name, pick(m, is_any));
    text_add(&m->text, " $%d", pick(m, is_any));
    add_outputs(m, 1);
    text_add(&m->text, " saturate=%d", draw(m, 0, 1));
    return true;
}

/* ---- sampling ---- */

/* Each element of the indices is one of the axis, whatever the shape of the rest. */
static bool make_gather_elements(node_maker *m, tsr_op op) {
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axis = draw(m, 0, shape->rank - 1), size = (int)shape->dim[axis];
    int64_t indices[6], dims[TSR_MAX_RANK];
    int count = draw(m, 1, 6);
    for (int i = 0; i < count; i++)
        indices[i] = draw(m, -size, size - 1);
    for (int i = 0; i < shape->rank; i++)
        dims[i] = i == axis ? count : 1;
    if (size == 0)
        return false;
    text_add(&m->text, "Identity $%d -> c%d; Reshape i%d(%s)", x, m->node, m->node,
             list_text(indices, count));
    text_add(&m->text, " s%d(%s) -> r%d; %s c%d r%d", m->node, list_text(dims, shape->rank),
             m->node, tsr_op_get_info(op)->name, m->node, m->node);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", axis);
    return true;
}

static bool make_trilu(node_maker *m, tsr_op op) {
    int x = pick(m, is_any);
    if (shape_of(m, x)->rank < 2)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){draw(m, -3, 3)}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " upper=%d", one_in(m, 2));
    return true;
}

static bool make_cum_sum(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const int axis = draw(m, 0, shape_of(m, x)->rank - 1);
    if (op == TSR_OP_CumProd && shape_of(m, x)->dim[axis] > 6) /* errors grow with each factor */
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){axis}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " exclusive=%d reverse=%d", one_in(m, 2), one_in(m, 2));
    return true;
}

static bool make_expand(node_maker *m, tsr_op op) {
    int x = pick(m, is_any);
    const tsr_shape *shape = shape_of(m, x);
    int64_t dims[TSR_MAX_RANK];
    if (shape->rank == 0 || tsr_shape_count(shape) > 1000)
        return false;
    for (int i = 0; i < shape->rank; i++)
        dims[i] = op == TSR_OP_Tile ? (one_in(m, 3) ? 2 : 1)
                                    : (shape->dim[i] == 1 && one_in(m, 2) ? 3 : shape->dim[i]);
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, dims, shape->rank);
    add_outputs(m, 1);
    return true;
}

static bool make_one_hot(node_maker *m, tsr_op op) {
    int64_t indices[5];
    int count = draw(m, 1, 5);
    for (int i = 0; i < count; i++)
        indices[i] = draw(m, -5, 5);
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_ints(m, indices, count);
    add_ints(m, (int64_t[]){draw(m, 1, 5)}, 1);
    text_add(&m->text, " f%d<0.25,1>", m->node);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", draw(m, -1, 1));
    return true;
}

static bool make_eye_like(node_maker *m, tsr_op op) {
    int x = pick(m, is_matrix);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    if (one_in(m, 2))
        text_add(&m->text, " dtype=%d", one_in(m, 2) ? 1 : 6);
    text_add(&m->text, " k=%d", draw(m, -2, 2));
    return true;
}

static bool make_range(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_scalar(m, draw(m, -2, 2));
    add_scalar(m, draw(m, 3, 9));
    add_scalar(m, draw(m, 1, 3));
    add_outputs(m, 1);
    return true;
}

static bool make_constant_of_shape(node_maker *m, tsr_op op) {
    int64_t dims[3] = {draw(m, 1, 4), draw(m, 1, 4), draw(m, 1, 4)};
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_ints(m, dims, draw(m, 1, 3));
    add_outputs(m, 1);
    return true;
}

static bool make_size(node_maker *m, tsr_op op) {
    begin(m, tsr_op_get_info(op)->name, pick(m, is_any));
    add_outputs(m, 1);
    return true;
}

static bool make_center_crop_pad(node_maker *m, tsr_op op) {
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int axis = draw(m, 0, shape_of(m, x)->rank - 1);
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){draw(m, 1, 9)}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " axes=%d,", axis);
    return true;
}

/* " roi" of tf_crop_and_resize: a little inside or outside of the image. */
static void add_roi(node_maker *m, int rank) {
    text_add(&m->text, " f%d_roi<", m->node);
    for (int i = 0; i < 2 * rank; i++)
        text_add(&m->text, "%s%g", i ? "," : "",
                 (i >= rank) + (i % rank > 1 ? draw(m, -2, 2) / 8.0 : 0));
    text_add(&m->text, ">");
}

static bool make_resize(node_maker *m, tsr_op op) {
    (void)op;
    static const char *const transforms[] = {"half_pixel",         "half_pixel_symmetric",
                                             "pytorch_half_pixel", "align_corners",
                                             "asymmetric",         "tf_crop_and_resize"};
    static const char *const modes[] = {"linear", "cubic", "nearest"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const char *transform = DRAW_ONE_OF(m, transforms), *mode = DRAW_ONE_OF(m, modes);
    int64_t sizes[5] = {shape->dim[0], shape->dim[1]};
    for (int i = 2; i < shape->rank; i++)
        sizes[i] = one_in(m, 3) ? shape->dim[i] * draw(m, 1, 2) : draw(m, 1, 20);
    const bool by_axes = *transform != 't' && one_in(m, 4);
    if (one_in(m, 4))
        sizes[1] = draw(m, 1, 9);
    begin(m, "Resize", x);
    if (*transform == 't')
        add_roi(m, shape->rank);
    else
        text_add(&m->text, " _");
    if (by_axes) { /* the spatial ones */
        text_add(&m->text, " _");
        add_ints(m, sizes + 2, shape->rank - 2);
    } else if (one_in(m, 2)) {
        text_add(&m->text, " f%d_scales<1,1", m->node);
        for (int i = 2; i < shape->rank; i++)
            text_add(&m->text, ",%g", draw(m, 2, 11) / 4.0);
        text_add(&m->text, ">");
    } else {
        text_add(&m->text, " _");
        add_ints(m, sizes, shape->rank);
    }
    add_outputs(m, 1);
    text_add(&m->text, " mode=%s coordinate_transformation_mode=%s", mode, transform);
    if (*transform == 't')
        text_add(&m->text, " extrapolation_value=0.%d", draw(m, 0, 9));
    if (by_axes) {
        add_ints_attribute(m, "axes", (int64_t[]){2, 3, 4}, shape->rank - 2);
        text_add(&m->text, " keep_aspect_ratio_policy=%s", DRAW_ONE_OF(m, policies));
    }
    if (*mode == 'n')
        text_add(&m->text, " nearest_mode=%s", DRAW_ONE_OF(m, roundings));
    if (*mode == 'c' && one_in(m, 2))
        text_add(&m->text, " exclude_outside=1 cubic_coeff_a=-0.5");
    if (one_in(m, 2))
        text_add(&m->text, " antialias=1");
    return true;
}

static bool make_grid_sample(node_maker *m, tsr_op op) {
    (void)op;
    static const char *const modes[] = {"linear", "nearest", "cubic"}, *const paddings[] = {
                                                                           "zeros", "border",
                                                                           "reflection"};
    int x = pick(m, is_image), grid = pick(m, is_image);
    if (x < 0)
        return false;
    int rank = shape_of(m, x)->rank;
    int64_t points[TSR_MAX_RANK] = {shape_of(m, x)->dim[0]};
    for (int i = 1; i < rank - 1; i++)
        points[i] = draw(m, 1, rank == 5 ? 4 : 9);
    points[rank - 1] = rank - 2;
    begin(m, "GridSample", x);
    if (grid >= 0 && shape_of(m, grid)->rank == rank &&
        shape_of(m, grid)->dim[rank - 1] == rank - 2 && shape_of(m, grid)->dim[0] == points[0])
        text_add(&m->text, " $%d", grid);
    else
        add_weights(m, 'p', rank, points);
    add_outputs(m, 1);
    text_add(&m->text, " mode=%s padding_mode=%s align_corners=%d", DRAW_ONE_OF(m, modes),
             DRAW_ONE_OF(m, paddings), draw(m, 0, 1));
    return true;
}

/* ---- the table ---- */

static node_maker_fn *const makers[TSR_OP_COUNT] = {
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = make_unary,
#define TSR_BINARY(Name, stem, kind) [TSR_OP_##Name] = make_binary,
#define TSR_NARY(Name, stem, types) [TSR_OP_##Name] = make_nary,
#define TSR_REDUCE(Name, stem, types) [TSR_OP_##Name] = make_reduce,
#include "graph/ops.def"
    [TSR_OP_Clip] = make_clip,
    [TSR_OP_Where] = make_where,
    [TSR_OP_Not] = make_not,
    [TSR_OP_BitwiseNot] = make_not,
    [TSR_OP_IsInf] = make_float_test,
    [TSR_OP_IsNaN] = make_float_test,
    [TSR_OP_Conv] = make_conv,
    [TSR_OP_ConvTranspose] = make_conv_transpose,
    [TSR_OP_Gemm] = make_gemm,
    [TSR_OP_MatMul] = make_matmul,
    [TSR_OP_BatchNormalization] = make_batch_normalization,
    [TSR_OP_InstanceNormalization] = make_instance_normalization,
    [TSR_OP_LayerNormalization] = make_layer_normalization,
    [TSR_OP_Softmax] = make_softmax,
    [TSR_OP_LogSoftmax] = make_softmax,
    [TSR_OP_Hardmax] = make_softmax,
    [TSR_OP_LpNormalization] = make_softmax,
    [TSR_OP_MeanVarianceNormalization] = make_mean_variance,
    [TSR_OP_GroupNormalization] = make_group_normalization,
    [TSR_OP_RMSNormalization] = make_rms_normalization,
    [TSR_OP_LRN] = make_lrn,
    [TSR_OP_NegativeLogLikelihoodLoss] = make_loss,
    [TSR_OP_SoftmaxCrossEntropyLoss] = make_loss,
    [TSR_OP_Adam] = make_update,
    [TSR_OP_Adagrad] = make_update,
    [TSR_OP_Momentum] = make_update,
    [TSR_OP_CastLike] = make_cast_like,
    [TSR_OP_QuantizeLinear] = make_quantize,
    [TSR_OP_DequantizeLinear] = make_quantize,
    [TSR_OP_DynamicQuantizeLinear] = make_dynamic_quantize,
    [TSR_OP_QLinearConv] = make_qlinear,
    [TSR_OP_QLinearMatMul] = make_qlinear,
    [TSR_OP_ConvInteger] = make_integer_sums,
    [TSR_OP_MatMulInteger] = make_integer_sums,
    [TSR_OP_ArgMax] = make_arg,
    [TSR_OP_ArgMin] = make_arg,
    [TSR_OP_AdamUpdate] = make_adam_update,
    [TSR_OP_LeakyReluGrad] = make_leaky_relu_grad,
    [TSR_OP_ConvWeightGrad] = make_window_gradient,
    [TSR_OP_MaxPoolGrad] = make_window_gradient,
    [TSR_OP_MaxPool] = make_pool,
    [TSR_OP_AveragePool] = make_pool,
    [TSR_OP_GlobalAveragePool] = make_global_pool,
    [TSR_OP_GlobalMaxPool] = make_global_pool,
    [TSR_OP_Concat] = make_concat,
    [TSR_OP_Split] = make_split,
    [TSR_OP_Slice] = make_slice,
    [TSR_OP_Transpose] = make_transpose,
    [TSR_OP_Pad] = make_pad,
    [TSR_OP_DepthToSpace] = make_depth_to_space,
    [TSR_OP_SpaceToDepth] = make_space_to_depth,
    [TSR_OP_Gather] = make_gather,
    [TSR_OP_GatherElements] = make_gather_elements,
    [TSR_OP_GatherND] = make_tuples,
    [TSR_OP_ScatterElements] = make_scatter_elements,
    [TSR_OP_ScatterND] = make_tuples,
    [TSR_OP_TensorScatter] = make_tensor_scatter,
    [TSR_OP_TopK] = make_top_k,
    [TSR_OP_CumSum] = make_cum_sum,
    [TSR_OP_CumProd] = make_cum_sum,
    [TSR_OP_BitCast] = make_bit_cast,
    [TSR_OP_Expand] = make_expand,
    [TSR_OP_Trilu] = make_trilu,
    [TSR_OP_Tile] = make_expand,
    [TSR_OP_OneHot] = make_one_hot,
    [TSR_OP_EyeLike] = make_eye_like,
    [TSR_OP_Range] = make_range,
    [TSR_OP_ConstantOfShape] = make_constant_of_shape,
    [TSR_OP_Size] = make_size,
    [TSR_OP_CenterCropPad] = make_center_crop_pad,
    [TSR_OP_GlobalLpPool] = make_global_pool,
    [TSR_OP_Resize] = make_resize,
    [TSR_OP_GridSample] = make_grid_sample,
    [TSR_OP_LSTM] = make_recurrent,
    [TSR_OP_GRU] = make_recurrent,
    [TSR_OP_RNN] = make_recurrent,
    [TSR_OP_Einsum] = make_einsum,
    [TSR_OP_ReverseSequence] = make_reverse_sequence,
    [TSR_OP_MaxUnpool] = make_max_unpool,
    [TSR_OP_Compress] = make_selection,
    [TSR_OP_NonZero] = make_selection,
    [TSR_OP_Unique] = make_selection,
    [TSR_OP_NonMaxSuppression] = make_selection,
    [TSR_OP_If] = make_if,
    [TSR_OP_Loop] = make_loop,
    [TSR_OP_Scan] = make_scan,
    [TSR_OP_RandomUniform] = make_random,
    [TSR_OP_RandomNormal] = make_random,
    [TSR_OP_RandomUniformLike] = make_random_like,
    [TSR_OP_RandomNormalLike] = make_random_like,
    [TSR_OP_Bernoulli] = make_bernoulli,
    [TSR_OP_Multinomial] = make_multinomial,
    [TSR_OP_HannWindow] = make_window,
    [TSR_OP_HammingWindow] = make_window,
    [TSR_OP_BlackmanWindow] = make_window,
    [TSR_OP_RoiAlign] = make_roi_align,
    [TSR_OP_LpPool] = make_pool,
    [TSR_OP_Col2Im] = make_col2im,
    [TSR_OP_DeformConv] = make_deform_conv,
    [TSR_OP_AffineGrid] = make_affine_grid,
    [TSR_OP_Attention] = make_attention,
    [TSR_OP_RotaryEmbedding] = make_rotary_embedding,
    [TSR_OP_Reshape] = make_reshape,
    [TSR_OP_Flatten] = make_flatten,
    [TSR_OP_Squeeze] = make_squeeze,
    [TSR_OP_Unsqueeze] = make_unsqueeze,
    [TSR_OP_Identity] = make_identity,
    [TSR_OP_Dropout] = make_dropout,
    [TSR_OP_Cast] = make_cast,
    [TSR_OP_Shape] = make_shape,
};

bool can_make_node(tsr_op op) {
    return makers[op];
}

bool make_node(node_maker *m, tsr_op op) {
    *m->text.text = 0;
    m->weight_count = 0;
    return makers[op](m, op);
}
