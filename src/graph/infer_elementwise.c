/* Shape rules of element by element operators. */
#include "graph/rules.h"

#include "base/error.h"

#include <string.h>

tsr_status tsr_infer_unary(tsr_graph *graph, tsr_node *node) {
    bool is_for_integers = tsr_op_has(node->op, TSR_TYPES_NUMBERS),
         needs_sign = node->op == TSR_OP_Neg || node->op == TSR_OP_Relu;
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    if (!is_for_integers || dtype == TSR_DTYPE_BOOL)
        TSR_TRY(tsr_require_float(graph, node, 1));
    if (needs_sign && tsr_dtype_is_unsigned(dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is not defined for %s", tsr_dtype_name(dtype));
    return tsr_infer_same(graph, node);
}

bool tsr_shifts_right(const tsr_node *node) {
    return strcmp(tsr_attr_string(node, "direction", ""), "RIGHT") == 0;
}

/* What ONNX says of single operators. */
static tsr_status check_binary(const tsr_node *node, const tsr_value *a, const tsr_value *b,
                               const tsr_shape *shape) {
    bool is_float = tsr_dtype_is_float(a->dtype);
    if (node->op == TSR_OP_PRelu && !tsr_shape_equal(shape, &a->shape))
        return tsr_fail(TSR_ERROR_SHAPE, "a slope of shape %s cannot be broadcast to %s",
                        tsr_shape_text(&b->shape), tsr_shape_text(&a->shape));
    if (node->op == TSR_OP_Mod && is_float && !tsr_attr_int(node, "fmod", 0))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "of floats it needs fmod = 1");
    if (node->op != TSR_OP_BitShift)
        return TSR_OK;
    const char *direction = tsr_attr_string(node, "direction", "");
    if (strcmp(direction, "LEFT") != 0 && !tsr_shifts_right(node))
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "attribute \"direction\" is \"%s\", not \"LEFT\" or \"RIGHT\"", direction);
    if (!tsr_dtype_is_unsigned(a->dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is defined for unsigned integers, not for %s",
                        tsr_dtype_name(a->dtype));
    return TSR_OK;
}

static tsr_status check_operand_type(const tsr_node *node, tsr_dtype dtype) {
    bool is_float = tsr_dtype_is_float(dtype), is_bool = dtype == TSR_DTYPE_BOOL;
    bool is_logic =
        tsr_op_has(node->op, TSR_TAKES_NO_FLOATS) && tsr_op_has(node->op, TSR_TYPES_BOOL);
    if (is_bool && !tsr_op_has(node->op, TSR_TYPES_BOOL))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is not defined for bool");
    if ((is_float && tsr_op_has(node->op, TSR_TAKES_NO_FLOATS)) || (!is_bool && is_logic))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is defined for %s, not for %s",
                        is_logic ? "bool" : "integers", tsr_dtype_name(dtype));
    return TSR_OK;
}

tsr_status tsr_infer_binary(tsr_graph *graph, tsr_node *node) {
    const tsr_value *a = tsr_node_in(graph, node, 0), *b = tsr_node_in(graph, node, 1);
    if (node->op != TSR_OP_Pow)
        TSR_TRY(tsr_require_same_type(graph, node, 2));
    TSR_TRY(check_operand_type(node, a->dtype));
    TSR_TRY(check_operand_type(node, b->dtype));
    tsr_shape shape;
    TSR_TRY(tsr_broadcast(&a->shape, &b->shape, &shape));
    TSR_TRY(check_binary(node, a, b, &shape));
    bool is_bool = tsr_op_has(node->op, TSR_YIELDS_BOOL);
    return tsr_set_output(graph, node, 0, is_bool ? TSR_DTYPE_BOOL : a->dtype, &shape);
}

tsr_status tsr_infer_leaky_relu_grad(tsr_graph *graph, tsr_node *node) {
    const tsr_value *dy = tsr_node_in(graph, node, 0), *y = tsr_node_in(graph, node, 1);
    TSR_TRY(tsr_require_float(graph, node, 2));
    if (!tsr_shape_equal(&dy->shape, &y->shape))
        return tsr_fail(TSR_ERROR_SHAPE, "inputs 0 and 1 have shapes %s and %s, not the same",
                        tsr_shape_text(&dy->shape), tsr_shape_text(&y->shape));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_nary(tsr_graph *graph, tsr_node *node) {
    const tsr_value *first = tsr_node_in(graph, node, 0);
    if (tsr_op_has(node->op, TSR_TYPES_NUMBERS) && first->dtype != TSR_DTYPE_BOOL)
        TSR_TRY(tsr_require_same_type(graph, node, node->input_count));
    else
        TSR_TRY(tsr_require_float(graph, node, node->input_count));
    tsr_shape shape = first->shape;
    for (int i = 1; i < node->input_count; i++) {
        const tsr_shape so_far = shape;
        TSR_TRY(tsr_broadcast(&so_far, &tsr_node_in(graph, node, i)->shape, &shape));
    }
    return tsr_set_output(graph, node, 0, first->dtype, &shape);
}

tsr_status tsr_infer_where(tsr_graph *graph, tsr_node *node) {
    const tsr_value *condition = tsr_node_in(graph, node, 0), *x = tsr_node_in(graph, node, 1),
                    *y = tsr_node_in(graph, node, 2);
    if (condition->dtype != TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "its condition is %s, not bool",
                        tsr_dtype_name(condition->dtype));
    if (x->dtype != y->dtype)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "inputs 1 and 2 are %s and %s, not of one type",
                        tsr_dtype_name(x->dtype), tsr_dtype_name(y->dtype));
    tsr_shape both, shape;
    TSR_TRY(tsr_broadcast(&x->shape, &y->shape, &both));
    TSR_TRY(tsr_broadcast(&condition->shape, &both, &shape));
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

tsr_status tsr_infer_clip(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_same_type(graph, node, 3));
    if (tsr_node_in(graph, node, 0)->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "there is no order on bool");
    TSR_TRY(tsr_require_scalar(tsr_node_in(graph, node, 1)));
    TSR_TRY(tsr_require_scalar(tsr_node_in(graph, node, 2)));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_not(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    if (dtype != TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is defined for bool, not for %s",
                        tsr_dtype_name(dtype));
    return tsr_infer_same(graph, node);
}

tsr_status tsr_infer_bitwise_not(tsr_graph *graph, tsr_node *node) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    if (tsr_dtype_is_float(dtype) || dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is defined for integers, not for %s",
                        tsr_dtype_name(dtype));
    return tsr_infer_same(graph, node);
}

static tsr_status infer_test_of_floats(tsr_graph *graph, const tsr_node *node) {
    TSR_TRY(tsr_require_float(graph, node, 1));
    return tsr_set_output(graph, node, 0, TSR_DTYPE_BOOL, &tsr_node_in(graph, node, 0)->shape);
}

tsr_status tsr_infer_is_inf(tsr_graph *graph, tsr_node *node) {
    return infer_test_of_floats(graph, node);
}

tsr_status tsr_infer_is_nan(tsr_graph *graph, tsr_node *node) {
    return infer_test_of_floats(graph, node);
}
