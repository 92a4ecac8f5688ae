#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static tsr_infer_fn *const rules[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, ...) tsr_infer_##stem,
#define TSR_UNARY(Name, stem, types) tsr_infer_unary,
#define TSR_BINARY(Name, stem, kind) tsr_infer_binary,
#define TSR_NARY(Name, stem, types) tsr_infer_nary,
#define TSR_REDUCE(Name, stem, types) tsr_infer_reduce,
#define TSR_FUNCTION(Name, ...) NULL, /* replaced by src/passes */
#include "graph/ops.def"
};

/* ---- one node ---- */

/* No slot of a variadic list may be absent; of other lists only those after the first min. */
static tsr_status check_slots(const char *what, const int *slots, int count, int min, int max) {
    if (count < min || (max != TSR_VARIADIC && count > max))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it has %d %ss", count, what);
    for (int i = 0; i < count; i++)
        if (slots[i] == TSR_NONE && (i < min || max == TSR_VARIADIC))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s %d is missing", what, i);
    return TSR_OK;
}

/* The product of all dimensions but those of 0 fits in an int64_t: strides of empty tensors are
 * computed, too. */
static bool strides_fit(const tsr_shape *shape) {
    tsr_shape filled = *shape;
    for (int i = 0; i < shape->rank; i++)
        filled.dim[i] = shape->dim[i] ? shape->dim[i] : 1;
    return tsr_shape_count(&filled) >= 0;
}

tsr_status tsr_check_input_shapes(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (!value)
            continue;
        bool known = value->shape.rank >= 0;
        for (int axis = 0; axis < value->shape.rank; axis++) {
            known = known && value->shape.dim[axis] >= 0;
            if (value->shape.dim[axis] > TSR_MAX_DIM)
                return tsr_fail(TSR_ERROR_SHAPE, "dimension %d of input %d ('%s') is too large",
                                axis, i, value->name);
        }
        if (!known)
            return tsr_fail(TSR_ERROR_SHAPE, "the shape of input %d ('%s') is not known", i,
                            value->name);
        if (!strides_fit(&value->shape))
            return tsr_fail(TSR_ERROR_SHAPE, "input %d ('%s'): the product of %s is too large", i,
                            value->name, tsr_shape_text(&value->shape));
    }
    return TSR_OK;
}

static tsr_status infer(tsr_graph *graph, tsr_node *node) {
    if (node->op >= TSR_OP_COUNT) /* see TSR_HAS; of a node that a pass makes */
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "it is not in this build");
    const tsr_op_info *info = tsr_op_get_info(node->op);
    TSR_TRY(
        check_slots("input", node->inputs, node->input_count, info->min_inputs, info->max_inputs));
    TSR_TRY(check_slots("output", node->outputs, node->output_count, info->min_outputs,
                        info->max_outputs));
    TSR_TRY(tsr_check_input_shapes(graph, node));
    return rules[node->op](graph, node);
}

/* "[1, 3, 8, 8], -, [4]"; truncated if it is too long. */
static void list_input_shapes(const tsr_graph *graph, const tsr_node *node, char *text,
                              size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        const char *shape = value ? tsr_shape_text(&value->shape) : "-";
        int length = snprintf(text + used, size - used, "%s%s", i ? ", " : "", shape);
        if (length < 0 || (size_t)length >= size - used)
            return;
        used += (size_t)length;
    }
}

tsr_status tsr_infer_node(tsr_graph *graph, tsr_node *node) {
    tsr_status status = infer(graph, node);
    if (status == TSR_OK)
        return TSR_OK;
    char shapes[512];
    list_input_shapes(graph, node, shapes, sizeof shapes);
    return tsr_fail_context(status, "%s: node '%s' (%s of %s)", graph->file, node->name,
                            tsr_node_op_name(node), shapes);
}

/* ---- parts of rules ---- */

tsr_status tsr_set_output(tsr_graph *graph, const tsr_node *node, int i, tsr_dtype dtype,
                          const tsr_shape *shape) {
    for (int axis = 0; axis < shape->rank; axis++)
        if (shape->dim[axis] < 0 || shape->dim[axis] > TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_SHAPE, "dimension %d of the result would be %" PRId64, axis,
                            shape->dim[axis]);
    if (!strides_fit(shape))
        return tsr_fail(TSR_ERROR_SHAPE, "the result's shape: the product of %s is too large",
                        tsr_shape_text(shape));
    tsr_value *out = tsr_node_out(graph, node, i);
    if (out) {
        out->dtype = dtype;
        out->shape = *shape;
    }
    return TSR_OK;
}

tsr_status tsr_infer_same(tsr_graph *graph, const tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    return tsr_set_output(graph, node, 0, x->dtype, &x->shape);
}

tsr_status tsr_require_same_type(const tsr_graph *graph, const tsr_node *node, int count) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    for (int i = 1; i < count; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (value && value->dtype != dtype)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d is of type %s, input 0 of type %s",
                            i, tsr_dtype_name(value->dtype), tsr_dtype_name(dtype));
    }
    return TSR_OK;
}

tsr_status tsr_require_float(const tsr_graph *graph, const tsr_node *node, int count) {
    tsr_dtype dtype = tsr_node_in(graph, node, 0)->dtype;
    if (!tsr_dtype_is_float(dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "it is supported for floating types, not for %s",
                        tsr_dtype_name(dtype));
    return tsr_require_same_type(graph, node, count);
}

tsr_status tsr_require_rank(const tsr_value *value, int min, int max) {
    if (value->shape.rank != min && min == max)
        return tsr_fail(TSR_ERROR_SHAPE, "'%s' of shape %s has to have %d dimensions", value->name,
                        tsr_shape_text(&value->shape), min);
    if (value->shape.rank < min || value->shape.rank > max)
        return tsr_fail(TSR_ERROR_SHAPE, "'%s' of shape %s has to have from %d to %d dimensions",
                        value->name, tsr_shape_text(&value->shape), min, max);
    return TSR_OK;
}

tsr_status tsr_require_vector(const tsr_value *value, int64_t length) {
    if (value && (value->shape.rank != 1 || value->shape.dim[0] != length))
        return tsr_fail(TSR_ERROR_SHAPE, "'%s' of shape %s has to have the shape [%" PRId64 "]",
                        value->name, tsr_shape_text(&value->shape), length);
    return TSR_OK;
}

tsr_status tsr_require_scalar(const tsr_value *value) {
    if (value && (value->shape.rank > 1 || tsr_shape_count(&value->shape) != 1))
        return tsr_fail(TSR_ERROR_SHAPE, "'%s' of shape %s has to be a scalar", value->name,
                        tsr_shape_text(&value->shape));
    return TSR_OK;
}

tsr_status tsr_read_choice(const tsr_node *node, const char *attr, const char *const *names,
                           int count, int *choice) {
    const char *given = tsr_attr_string(node, attr, names[0]);
    *choice = 0;
    while (*choice < count && strcmp(given, names[*choice]) != 0)
        ++*choice;
    if (*choice == count)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s is '%s'", attr, given);
    return TSR_OK;
}

tsr_status tsr_broadcast(const tsr_shape *a, const tsr_shape *b, tsr_shape *out) {
    tsr_shape result = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 1; i <= result.rank; i++) {
        int64_t m = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t n = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (m != n && m != 1 && n != 1)
            return tsr_fail(TSR_ERROR_SHAPE, "shapes %s and %s cannot be broadcast together",
                            tsr_shape_text(a), tsr_shape_text(b));
        result.dim[result.rank - i] = m == 1 ? n : m;
    }
    *out = result;
    return TSR_OK;
}

tsr_status tsr_normalize_axis(int64_t axis, int limit, int *result) {
    if (axis < -limit || axis >= limit)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "axis %" PRId64 " is out of range (%d to %d)",
                        axis, -limit, limit - 1);
    *result = (int)(axis < 0 ? axis + limit : axis);
    return TSR_OK;
}

tsr_status tsr_read_ints(const tsr_node *node, const char *name, int count, int64_t min,
                         int64_t *result, bool *found) {
    int given;
    const int64_t *ints = tsr_attr_ints(node, name, &given);
    *found = ints != NULL;
    if (!ints)
        return TSR_OK;
    if (given != count)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s has %d elements instead of %d", name, given,
                        count);
    for (int i = 0; i < count; i++) {
        if (ints[i] < min || ints[i] > TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s[%d] is %" PRId64, name, i, ints[i]);
        result[i] = ints[i];
    }
    return TSR_OK;
}

tsr_status tsr_read_axes(const int64_t *axes, int64_t count, int rank, int result[TSR_MAX_RANK]) {
    if (count > rank)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%" PRId64 " axes are given for %d dimensions",
                        count, rank);
    bool seen[TSR_MAX_RANK] = {false};
    for (int i = 0; i < count; i++) {
        TSR_TRY(tsr_normalize_axis(axes[i], rank, &result[i]));
        if (seen[result[i]])
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "axis %d is given twice", result[i]);
        seen[result[i]] = true;
    }
    return TSR_OK;
}

tsr_status tsr_node_const_ints(const tsr_graph *graph, const tsr_node *node, int input,
                               const int64_t **data, int64_t *count) {
    const tsr_value *value = tsr_node_in(graph, node, input);
    if (!value)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d is missing", input);
    if (tsr_dtype_is_float(value->dtype) || value->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "input %d ('%s') is of type %s instead of an integer type", input,
                        value->name, tsr_dtype_name(value->dtype));
    if (value->shape.rank > 1)
        return tsr_fail(TSR_ERROR_SHAPE, "input %d ('%s') of shape %s has to be a list", input,
                        value->name, tsr_shape_text(&value->shape));
    if (!value->data)
        return tsr_fail_until_run("input %d ('%s') is known only at run time; if it comes from "
                                  "inputs, fix those in tsr_session_desc.fixed",
                                  input, value->name);
    *data = value->data;
    *count = tsr_shape_count(&value->shape);
    return TSR_OK;
}
