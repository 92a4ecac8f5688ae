/* Rules of operators whose result has the shape of their input, broadcasting aside. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>

tsr_status tsr_infer_unary(tsr_graph *graph, tsr_node *node) {
    bool is_for_integers = tsr_op_has(node->op, TSR_TYPES_NUMBERS);
    if (!is_for_integers || tsr_node_in(graph, node, 0)->dtype == TSR_BOOL)
        TSR_TRY(tsr_require_float(graph, node, 1));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_binary(tsr_graph *graph, tsr_node *node) {
    const tsr_value *a = tsr_node_in(graph, node, 0), *b = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_same_type(graph, node, 2));
    if (a->dtype == TSR_BOOL)
        return tsr_fail(TSR_INVALID_MODEL, "there is no arithmetic on bool");
    tsr_shape shape;
    TSR_TRY(tsr_broadcast(&a->shape, &b->shape, &shape));
    return tsr_set_output(graph, node, 0, a->dtype, &shape);
}

tsr_status tsr_infer_prelu(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *slope = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_float(graph, node, 2));
    tsr_shape shape;
    TSR_TRY(tsr_broadcast(&x->shape, &slope->shape, &shape));
    if (!tsr_shape_equal(&shape, &x->shape))
        return tsr_fail(TSR_SHAPE, "a slope of shape %s cannot be broadcast to %s",
                        tsr_shape_text(&slope->shape), tsr_shape_text(&x->shape));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_clip(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_same_type(graph, node, 3));
    if (tsr_node_in(graph, node, 0)->dtype == TSR_BOOL)
        return tsr_fail(TSR_INVALID_MODEL, "there is no order on bool");
    TSR_TRY(tsr_require_scalar(tsr_node_in(graph, node, 1)));
    TSR_TRY(tsr_require_scalar(tsr_node_in(graph, node, 2)));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_softmax(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_float(graph, node, 1));
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1),
                               tsr_node_in(graph, node, 0)->shape.rank, &axis));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_batch_normalization(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    if (tsr_attr_int(node, "training_mode", 0) != 0 || tsr_node_out(graph, node, 1) ||
        tsr_node_out(graph, node, 2))
        return tsr_fail(TSR_UNSUPPORTED, "training mode is not supported");
    /* Statistics may be of another floating type than x. */
    TSR_TRY(tsr_require_float(graph, node, 1));
    TSR_TRY(tsr_require_rank(x, 2, TSR_MAX_RANK));
    for (int i = 1; i < 5; i++) {
        const tsr_value *parameter = tsr_node_in(graph, node, i);
        if (!tsr_dtype_is_float(parameter->dtype))
            return tsr_fail(TSR_INVALID_MODEL, "input %d is of type %s", i,
                            tsr_dtype_name(parameter->dtype));
        TSR_TRY(tsr_require_vector(parameter, x->shape.dim[1]));
    }
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_instance_normalization(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    TSR_TRY(tsr_require_float(graph, node, 3));
    TSR_TRY(tsr_require_rank(x, 3, TSR_MAX_RANK));
    TSR_TRY(tsr_require_vector(tsr_node_in(graph, node, 1), x->shape.dim[1]));
    TSR_TRY(tsr_require_vector(tsr_node_in(graph, node, 2), x->shape.dim[1]));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_identity(tsr_graph *graph, tsr_node *node) {
    return tsr_infer_same(graph, node);
}

/* Dropout drops something only in training mode and with a ratio that is not 0. */
static tsr_status check_dropout_mode(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *ratio = tsr_node_in(graph, node, 1), *mode = tsr_node_in(graph, node, 2);
    TSR_TRY(tsr_require_scalar(ratio));
    TSR_TRY(tsr_require_scalar(mode));
    if (ratio && !tsr_dtype_is_float(ratio->dtype))
        return tsr_fail(TSR_INVALID_MODEL, "the ratio is of type %s", tsr_dtype_name(ratio->dtype));
    if (!mode)
        return TSR_OK;
    if (mode->dtype != TSR_BOOL)
        return tsr_fail(TSR_INVALID_MODEL, "training_mode is of type %s",
                        tsr_dtype_name(mode->dtype));
    if (!mode->data)
        return tsr_fail(TSR_UNSUPPORTED, "training_mode ('%s') is known only at run time",
                        mode->name);
    bool keeps_all = ratio && ratio->data && *(const tsr_loose_float *)ratio->data == 0;
    if (*(const int64_t *)mode->data != 0 && !keeps_all)
        return tsr_fail(TSR_UNSUPPORTED, "training mode is not supported");
    return TSR_OK;
}

tsr_status tsr_infer_dropout(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_float(graph, node, 1));
    TSR_TRY(check_dropout_mode(graph, node));
    TSR_TRY(tsr_set_output(graph, node, 1, TSR_BOOL, &tsr_node_in(graph, node, 0)->shape));
    return tsr_infer_same(graph, node);
}

/* From the numbers of ONNX's TensorProto.DataType. */
static tsr_status dtype_from_onnx(int64_t number, tsr_dtype *dtype) {
    static const struct {
        int number;
        tsr_dtype dtype;
    } types[] = {{1, TSR_F32}, {2, TSR_U8},   {3, TSR_I8},   {6, TSR_I32},
                 {7, TSR_I64}, {9, TSR_BOOL}, {10, TSR_F16}, {11, TSR_F64}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number) {
            *dtype = types[i].dtype;
            return TSR_OK;
        }
    if (number <= 0)
        return tsr_fail(TSR_INVALID_MODEL, "attribute 'to' is missing or invalid");
    return tsr_fail(TSR_UNSUPPORTED, "ONNX's data type %" PRId64 " is not supported", number);
}

tsr_status tsr_infer_cast(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = TSR_F32;
    TSR_TRY(dtype_from_onnx(tsr_attr_int(node, "to", 0), &dtype));
    return tsr_set_output(graph, node, 0, dtype, &tsr_node_in(graph, node, 0)->shape);
}
