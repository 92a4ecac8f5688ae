/* Function operators to integers of 4, 8 and 16 bits and back, in the arithmetic of floats:
 *     quantized = saturate(round(x / scale) + zero point), x = (quantized - zero point) * scale
 * with one scale and zero point, one for each index along an axis, or one for each block of
 * `block_size` indices along it. */
#include "passes/functions.h"

#include "base/divide.h"
#include "base/error.h"
#include "graph/rules.h"

#include <math.h>

/* Inputs of both operators. */
enum { X, SCALE, ZERO_POINT };

static const tsr_value *input(const tsr_builder *b, int i) {
    return tsr_node_in(b->graph, b->node, i);
}

/* ---- scales and zero points ------------------------------------------------------------------ */

typedef struct granularity {
    bool whole;         /* one for all */
    int axis;           /* else */
    int64_t block_size; /* 0: one for each index */
} granularity;

static tsr_status check_scales(const tsr_value *scale) {
    const tsr_unaligned_float *elements = scale->data;
    int64_t count = elements ? tsr_shape_count(&scale->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        if (!(elements[i] > 0 && isfinite(elements[i])))
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "element %lld of the scales is not positive and finite", (long long)i);
    return TSR_OK;
}

/* Blocks may be cut short at the end. */
static tsr_status check_blocks(const tsr_shape *x, const tsr_shape *scale, const granularity *g) {
    tsr_shape wanted = *x;
    wanted.dim[g->axis] = tsr_divide_up(x->dim[g->axis], g->block_size);
    if (tsr_shape_equal(scale, &wanted))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_SHAPE, "scales %s for blocks of %lld along axis %d of %s",
                    tsr_shape_text(scale), (long long)g->block_size, g->axis, tsr_shape_text(x));
}

static tsr_status read_granularity(const tsr_builder *b, granularity *g) {
    const tsr_shape *x = &input(b, X)->shape, *scale = &input(b, SCALE)->shape;
    const tsr_value *zero_point = input(b, ZERO_POINT);
    *g = (granularity){.block_size = tsr_attr_int(b->node, "block_size", 0)};
    TSR_TRY(check_scales(input(b, SCALE)));
    if (zero_point && !tsr_shape_equal(&zero_point->shape, scale) &&
        !(tsr_shape_count(&zero_point->shape) == 1 && tsr_shape_count(scale) == 1))
        return tsr_fail(TSR_ERROR_SHAPE, "zero points %s for scales %s",
                        tsr_shape_text(&zero_point->shape), tsr_shape_text(scale));
    if (g->block_size < 0 || g->block_size > TSR_MAX_DIM)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "block_size is %lld", (long long)g->block_size);
    g->whole = g->block_size == 0 && tsr_shape_count(scale) == 1 && scale->rank <= 1;
    if (g->whole)
        return TSR_OK;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(b->node, "axis", 1), x->rank, &g->axis));
    return g->block_size ? check_blocks(x, scale, g)
                         : tsr_require_vector(input(b, SCALE), x->dim[g->axis]);
}

/* A scale or zero point as it broadcasts with input 0. */
static int spread(tsr_builder *b, int value, const granularity *g) {
    const tsr_shape *x = &input(b, X)->shape;
    tsr_shape shape = {0};
    if (g->whole)
        return tsr_build_reshape(b, value, &shape);
    int64_t size = x->dim[g->axis];
    if (g->block_size) {
        const tsr_attr axis = tsr_int_attr("axis", g->axis);
        int64_t *blocks = tsr_build_elements(b, size, sizeof *blocks);
        for (int64_t i = 0; blocks && i < size; i++)
            blocks[i] = i / g->block_size;
        if (!blocks)
            return TSR_NONE;
        const int inputs[] = {value, tsr_build_ints(b, (int)size, blocks)};
        return tsr_build_with(b, TSR_OP_Gather, 2, inputs, 1, &axis);
    }
    shape.rank = x->rank;
    for (int i = 0; i < x->rank; i++)
        shape.dim[i] = i == g->axis ? size : 1;
    return tsr_build_reshape(b, value, &shape);
}

/* ---- the operators --------------------------------------------------------------------------- */

static tsr_status require_quantized(tsr_dtype dtype) {
    if (dtype == TSR_DTYPE_U8 || dtype == TSR_DTYPE_I8 || dtype == TSR_DTYPE_U16 ||
        dtype == TSR_DTYPE_I16 || tsr_dtype_is_packed(dtype))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "quantized elements of type %s", tsr_dtype_name(dtype));
}

static tsr_status require_type_of(const tsr_value *zero_point, const tsr_value *x) {
    if (!zero_point || zero_point->dtype == x->dtype)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "zero points of type %s for %s",
                    tsr_dtype_name(zero_point->dtype), tsr_dtype_name(x->dtype));
}

/* An attribute that names a type; *dtype stays if it is absent or 0. */
static tsr_status read_type(const tsr_builder *b, tsr_dtype *dtype) {
    int64_t number = tsr_attr_int(b->node, "output_dtype", 0);
    if (number && !tsr_dtype_from_onnx(number, dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "output_dtype is %lld", (long long)number);
    return TSR_OK;
}

static tsr_status read_dequantize(const tsr_builder *b, tsr_dtype *to, granularity *g) {
    const tsr_value *x = input(b, X), *scale = input(b, SCALE), *zero_point = input(b, ZERO_POINT);
    *to = scale->dtype;
    TSR_TRY(read_type(b, to));
    if (!tsr_dtype_is_float(scale->dtype) || !tsr_dtype_is_float(*to))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "scales of type %s for an output of %s",
                        tsr_dtype_name(scale->dtype), tsr_dtype_name(*to));
    if (x->dtype != TSR_DTYPE_I32)
        TSR_TRY(require_quantized(x->dtype));
    TSR_TRY(require_type_of(zero_point, x));
    return read_granularity(b, g);
}

void tsr_build_dequantize_linear(tsr_builder *b) {
    tsr_dtype to;
    granularity g;
    tsr_build_fail(b, read_dequantize(b, &to, &g));
    if (b->status != TSR_OK)
        return;
    const int *in = b->node->inputs;
    int value = tsr_build_cast(b, in[X], to),
        factor = tsr_build_cast(b, spread(b, in[SCALE], &g), to);
    if (input(b, ZERO_POINT))
        value =
            TSR_BUILD(b, TSR_OP_Sub, value, tsr_build_cast(b, spread(b, in[ZERO_POINT], &g), to));
    TSR_BUILD(b, TSR_OP_Mul, value, factor);
}

/* What lies outside gets the nearest integer that the type holds. */
static int saturate(tsr_builder *b, int value, tsr_dtype dtype) {
    float low = (float)tsr_dtype_low(dtype), high = (float)tsr_dtype_high(dtype);
    value = TSR_BUILD(b, TSR_OP_Clip, value, tsr_build_number(b, low), tsr_build_number(b, high));
    return tsr_build_cast(b, value, dtype);
}

static tsr_status read_quantize(const tsr_builder *b, tsr_dtype *to, granularity *g) {
    const tsr_value *x = input(b, X), *scale = input(b, SCALE), *zero_point = input(b, ZERO_POINT);
    *to = zero_point ? zero_point->dtype : TSR_DTYPE_U8;
    if (!zero_point)
        TSR_TRY(read_type(b, to));
    TSR_TRY(require_quantized(*to));
    if (x->dtype != scale->dtype || !tsr_dtype_is_float(x->dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "elements of type %s and scales of %s",
                        tsr_dtype_name(x->dtype), tsr_dtype_name(scale->dtype));
    return read_granularity(b, g);
}

void tsr_build_quantize_linear(tsr_builder *b) {
    tsr_dtype to;
    granularity g;
    tsr_build_fail(b, read_quantize(b, &to, &g));
    if (b->status != TSR_OK)
        return;
    const int *in = b->node->inputs;
    int value = TSR_BUILD(b, TSR_OP_Div, in[X], spread(b, in[SCALE], &g));
    value = TSR_BUILD(b, TSR_OP_Round, value);
    if (input(b, ZERO_POINT))
        value = TSR_BUILD(b, TSR_OP_Add, value,
                          tsr_build_cast_like(b, spread(b, in[ZERO_POINT], &g), in[X]));
    saturate(b, value, to);
}

/* One scale and zero point, so that uint8 holds 0 and all elements; of zeros alone, as ONNX Runtime
 * does, 1. */
void tsr_build_dynamic_quantize_linear(tsr_builder *b) {
    const int x = b->node->inputs[X];
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    tsr_build_fail(b, tsr_require_float(b->graph, b->node, 1));
    if (b->status != TSR_OK)
        return;
    int zero = tsr_build_number(b, 0);
    int low = TSR_BUILD(b, TSR_OP_Min, zero, tsr_build_with(b, TSR_OP_ReduceMin, 1, &x, 1, &drop)),
        high = TSR_BUILD(b, TSR_OP_Max, zero, tsr_build_with(b, TSR_OP_ReduceMax, 1, &x, 1, &drop));
    int span = TSR_BUILD(b, TSR_OP_Sub, high, low),
        scale = TSR_BUILD(b, TSR_OP_Where, TSR_BUILD(b, TSR_OP_Equal, span, zero),
                          tsr_build_number(b, 1),
                          TSR_BUILD(b, TSR_OP_Div, span, tsr_build_number(b, 255)));
    int shift =
        TSR_BUILD(b, TSR_OP_Round, TSR_BUILD(b, TSR_OP_Div, TSR_BUILD(b, TSR_OP_Neg, low), scale));
    tsr_build_output(b, 1, scale);
    tsr_build_output(b, 2, saturate(b, shift, TSR_DTYPE_U8));
    int value = TSR_BUILD(b, TSR_OP_Round, TSR_BUILD(b, TSR_OP_Div, x, scale));
    saturate(b, TSR_BUILD(b, TSR_OP_Add, value, shift), TSR_DTYPE_U8);
}

/* ---- sums of products ------------------------------------------------------------------------ */

/* Inputs of QLinearConv and QLinearMatMul: each of two with its scale and zero point, then those of
 * the output; QLinearConv's bias in units of both scales. */
enum { LEFT = 0, RIGHT = 3, RESULT = 6, BIAS = 8 };

/* An input's scale and zero point have the same shape: one element, or one for each of `count`
 * where that is not 0. */
static tsr_status check_parameters(const tsr_builder *b, int first, int64_t count) {
    const tsr_value *scale = input(b, first), *zero_point = input(b, first + 1);
    const int64_t given = tsr_shape_count(&scale->shape);
    if (scale->dtype != TSR_DTYPE_F32)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "scales of type %s", tsr_dtype_name(scale->dtype));
    if (scale->shape.rank > 1 || (given != 1 && (given != count || count == 0)) ||
        tsr_shape_count(&zero_point->shape) != given)
        return tsr_fail(TSR_ERROR_SHAPE, "scales %s and zero points %s",
                        tsr_shape_text(&scale->shape), tsr_shape_text(&zero_point->shape));
    TSR_TRY(require_quantized(zero_point->dtype));
    return check_scales(scale);
}

/* count: of scales that the input may have instead of one. */
static tsr_status check_factor(const tsr_builder *b, int i, int64_t count) {
    TSR_TRY(require_quantized(input(b, i)->dtype));
    TSR_TRY(check_parameters(b, i + 1, count));
    return require_type_of(input(b, i + 2), input(b, i));
}

/* One element, or a list along the first axis of `rank`. */
static int parameter(tsr_builder *b, int i, int rank) {
    const int64_t count = tsr_shape_count(&input(b, i)->shape);
    tsr_shape shape = {.rank = count == 1 ? 0 : rank, .dim = {count}};
    for (int d = 1; d < shape.rank; d++)
        shape.dim[d] = 1;
    return tsr_build_cast(b, tsr_build_reshape(b, b->node->inputs[i], &shape), TSR_DTYPE_F32);
}

/* What a factor's integers stand for, without its scale. rank: of the list of zero points; AS_IS:
 * they broadcast already. */
enum { AS_IS = -1 };
static int shifted(tsr_builder *b, int i, int rank) {
    int value = tsr_build_cast(b, b->node->inputs[i], TSR_DTYPE_F32);
    if (!input(b, i + 2))
        return value;
    int zero_point = rank == AS_IS ? tsr_build_cast(b, b->node->inputs[i + 2], TSR_DTYPE_F32)
                                   : parameter(b, i + 2, rank);
    return TSR_BUILD(b, TSR_OP_Sub, value, zero_point);
}

/* Sums of products, which are exact up to 2^24, to the output's integers. */
static void requantize(tsr_builder *b, int sums, int left_scale, int right_scale) {
    int scale = TSR_BUILD(b, TSR_OP_Div, TSR_BUILD(b, TSR_OP_Mul, left_scale, right_scale),
                          parameter(b, RESULT, 0)),
        value = TSR_BUILD(b, TSR_OP_Round, TSR_BUILD(b, TSR_OP_Mul, sums, scale));
    value = TSR_BUILD(b, TSR_OP_Add, value, parameter(b, RESULT + 1, 0));
    saturate(b, value, input(b, RESULT + 1)->dtype);
}

static tsr_status check_conv(const tsr_builder *b) {
    TSR_TRY(tsr_require_rank(input(b, RIGHT), 3, TSR_MAX_RANK));
    TSR_TRY(check_factor(b, LEFT, 0));
    TSR_TRY(check_factor(b, RIGHT, input(b, RIGHT)->shape.dim[0]));
    return check_parameters(b, RESULT, 0);
}

void tsr_build_qlinear_conv(tsr_builder *b) {
    const tsr_node *node = b->node;
    tsr_build_fail(b, check_conv(b));
    if (b->status != TSR_OK)
        return;
    const int rank = input(b, RIGHT)->shape.rank;
    int inputs[] = {shifted(b, LEFT, 0), shifted(b, RIGHT, rank), TSR_NONE}, count = 2;
    if (input(b, BIAS))
        inputs[count++] = tsr_build_cast(b, node->inputs[BIAS], TSR_DTYPE_F32);
    int sums = tsr_build_with(b, TSR_OP_Conv, count, inputs, node->attr_count, node->attrs);
    requantize(b, sums, parameter(b, LEFT + 1, 0), parameter(b, RIGHT + 1, rank - 1));
}

static tsr_status check_matmul(const tsr_builder *b) {
    const tsr_shape *left = &input(b, LEFT)->shape, *right = &input(b, RIGHT)->shape;
    TSR_TRY(check_factor(b, LEFT, left->rank > 1 ? left->dim[left->rank - 2] : 0));
    TSR_TRY(check_factor(b, RIGHT, right->rank > 1 ? right->dim[right->rank - 1] : 0));
    return check_parameters(b, RESULT, 0);
}

/* One scale, or one for each row of the left and each column of the right matrix. */
void tsr_build_qlinear_matmul(tsr_builder *b) {
    tsr_build_fail(b, check_matmul(b));
    if (b->status != TSR_OK)
        return;
    int sums = TSR_BUILD(b, TSR_OP_MatMul, shifted(b, LEFT, 2), shifted(b, RIGHT, 1));
    requantize(b, sums, parameter(b, LEFT + 1, 2), parameter(b, RIGHT + 1, 1));
}

/* ---- sums of products as integers ------------------------------------------------------------ */

/* Inputs of ConvInteger and MatMulInteger: two, and the zero points of both. */
enum { FIRST, SECOND, FACTORS };

/* Zero points: none, one, one for each of `count` if that is not 0, or such a tensor. */
static tsr_status check_integers(const tsr_builder *b, int i, int64_t count,
                                 const tsr_shape *spread) {
    const tsr_value *value = input(b, i), *zero_point = input(b, FACTORS + i);
    if (value->dtype != TSR_DTYPE_U8 && value->dtype != TSR_DTYPE_I8)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "input %d is of type %s, not int8 or uint8", i,
                        tsr_dtype_name(value->dtype));
    TSR_TRY(require_type_of(zero_point, value));
    if (!zero_point)
        return TSR_OK;
    const tsr_shape *shape = &zero_point->shape;
    const int64_t given = tsr_shape_count(shape);
    if (shape->rank <= 1 ? given == 1 || (given == count && count != 0)
                         : spread && tsr_shape_equal(shape, spread))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_SHAPE, "zero points %s for input %d of shape %s",
                    tsr_shape_text(shape), i, tsr_shape_text(&value->shape));
}

/* The largest magnitude of the input's elements less their zero points. */
static int64_t find_largest(const tsr_builder *b, int i) {
    const tsr_value *zero_point = input(b, FACTORS + i);
    const int64_t low = tsr_dtype_low(input(b, i)->dtype),
                  high = tsr_dtype_high(input(b, i)->dtype);
    if (!zero_point)
        return tsr_max(high, -low);
    if (!zero_point->data)
        return high - low;
    int64_t largest = 0;
    for (int64_t k = 0; k < tsr_shape_count(&zero_point->shape); k++) {
        int64_t z = ((const int64_t *)zero_point->data)[k];
        largest = tsr_max(largest, tsr_max(high - z, z - low));
    }
    return largest;
}

/* The input less its zero points, of which a list has this rank. */
static int difference(tsr_builder *b, int i, int rank) {
    const tsr_value *zero_point = input(b, FACTORS + i);
    return shifted(b, i, zero_point && zero_point->shape.rank > 1 ? AS_IS : rank);
}

/* op: Conv or MatMul; ranks: of lists of zero points. */
static void sum_integers(tsr_builder *b, tsr_op op, const int ranks[FACTORS]) {
    const tsr_node *node = b->node;
    const int64_t largest[] = {find_largest(b, FIRST), find_largest(b, SECOND)};
    tsr_attr *attrs = TSR_NEW(b->graph->arena, node->attr_count + 1, tsr_attr);
    if (!attrs) {
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
        return;
    }
    attrs[0] = tsr_build_ints_attr(b, "integers", FACTORS, largest);
    for (int i = 0; i < node->attr_count; i++)
        attrs[i + 1] = node->attrs[i];
    const int inputs[] = {difference(b, FIRST, ranks[FIRST]), difference(b, SECOND, ranks[SECOND])};
    tsr_build_with(b, op, FACTORS, inputs, node->attr_count + 1, attrs);
}

static tsr_status check_conv_integer(const tsr_builder *b) {
    TSR_TRY(tsr_require_rank(input(b, SECOND), 3, TSR_MAX_RANK));
    TSR_TRY(check_integers(b, FIRST, 0, NULL));
    return check_integers(b, SECOND, input(b, SECOND)->shape.dim[0], NULL);
}

void tsr_build_conv_integer(tsr_builder *b) {
    tsr_build_fail(b, check_conv_integer(b));
    if (b->status == TSR_OK)
        sum_integers(b, TSR_OP_Conv, (int[]){0, input(b, SECOND)->shape.rank});
}

/* Zero points for each row of the left and each column of the right matrices; of all batches, or as
 * a tensor with an axis of 1. */
static tsr_status check_matmul_integer(const tsr_builder *b) {
    for (int i = 0; i < FACTORS; i++) {
        tsr_shape spread = input(b, i)->shape;
        const int rank = spread.rank, axis = rank - (i == FIRST ? 2 : 1);
        const int64_t count = rank > 1 ? spread.dim[axis] : 0;
        if (rank > 1)
            spread.dim[i == FIRST ? rank - 1 : rank - 2] = 1;
        TSR_TRY(check_integers(b, i, count, &spread));
    }
    return TSR_OK;
}

void tsr_build_matmul_integer(tsr_builder *b) {
    tsr_build_fail(b, check_matmul_integer(b));
    if (b->status == TSR_OK)
        sum_integers(b, TSR_OP_MatMul, (int[]){2, 1});
}
