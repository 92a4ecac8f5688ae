#include "graph/custom.h"

#include "base/error.h"
#include "graph/rules.h"

#include <string.h>

const char *tsr_domain(const char *domain) {
    return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

static bool same_operator(const tsr_custom_op *op, const char *domain, const char *name) {
    return strcmp(op->name, name) == 0 && strcmp(tsr_domain(op->domain), tsr_domain(domain)) == 0;
}

/* ---- descriptions ---- */

static tsr_custom_op with_defaults(tsr_custom_op op) {
    op.domain = tsr_domain(op.domain);
    op.min_inputs = op.min_inputs ? op.min_inputs : 1;
    op.max_inputs = op.max_inputs ? op.max_inputs : op.min_inputs;
    return op;
}

/* Is "ATTR_" and this an identifier of GLSL and WGSL? GLSL reserves double underscores. */
static bool is_identifier(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    enum { FIRST = 52, LONGEST = 64 };
    return *name && memchr(letters, *name, FIRST) && strspn(name, letters) == strlen(name) &&
           !strstr(name, "__") && strlen(name) <= LONGEST;
}

static tsr_status check_attrs(const tsr_custom_op *op) {
    if (op->attr_count < 0 || op->attr_count > TSR_MAX_CUSTOM_ATTRS)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%d attributes: it can have 0 to %d",
                        op->attr_count, TSR_MAX_CUSTOM_ATTRS);
    if (op->attr_count && !op->attrs)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "attrs is NULL");
    for (int i = 0; i < op->attr_count; i++) {
        const char *name = op->attrs[i].name;
        if (!name || !is_identifier(name))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "attribute %d cannot be called '%s'", i,
                            name ? name : "");
        for (int k = 0; k < i; k++)
            if (strcmp(op->attrs[k].name, name) == 0)
                return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "attribute '%s' is there twice", name);
    }
    return TSR_OK;
}

static tsr_status check_op(const tsr_custom_op *given) {
    const tsr_custom_op op = with_defaults(*given);
    if (!op.compute)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "it has no function for the CPU");
    if (op.min_inputs < 1 || op.max_inputs < op.min_inputs || op.max_inputs > TSR_MAX_CUSTOM_INPUTS)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%d to %d inputs: it can have 1 to %d",
                        op.min_inputs, op.max_inputs, TSR_MAX_CUSTOM_INPUTS);
    if ((op.glsl && !*op.glsl) || (op.wgsl && !*op.wgsl))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "its body is empty");
    tsr_op known = tsr_op_find(op.name);
    bool is_known = known == TSR_OP_COUNT
                        ? !*op.domain && strcmp(op.name, "Constant") == 0
                        : strcmp(op.domain, tsr_domain_name(tsr_op_domain(known))) == 0;
    if (is_known)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "Tessera has an operator of this name");
    return check_attrs(&op);
}

tsr_status tsr_custom_check(const tsr_custom_op *ops, int count) {
    if (count < 0 || (count && !ops))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%d custom operators at %p", count,
                        (const void *)ops);
    for (int i = 0; i < count; i++) {
        if (!ops[i].name || !*ops[i].name)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "custom operator %d has no name", i);
        TSR_TRY(tsr_fail_context(check_op(&ops[i]), "custom operator '%s'", ops[i].name));
        for (int k = 0; k < i; k++)
            if (same_operator(&ops[k], ops[i].domain, ops[i].name))
                return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "custom operator '%s' is there twice",
                                ops[i].name);
    }
    return TSR_OK;
}

/* NULL stays NULL. */
static bool copy_text(tsr_arena *arena, const char **text) {
    if (*text)
        *text = tsr_arena_strndup(arena, *text, strlen(*text));
    return *text;
}

static bool copy_op(tsr_arena *arena, const tsr_custom_op *given, tsr_custom_op *op) {
    *op = with_defaults(*given);
    tsr_custom_attr *attrs = TSR_NEW(arena, op->attr_count, tsr_custom_attr);
    bool copied = attrs && copy_text(arena, &op->name) && copy_text(arena, &op->domain);
    copied = copied && (!op->glsl || copy_text(arena, &op->glsl)) &&
             (!op->wgsl || copy_text(arena, &op->wgsl));
    for (int i = 0; i < op->attr_count && copied; i++) {
        attrs[i] = op->attrs[i];
        copied = copy_text(arena, &attrs[i].name);
    }
    op->attrs = attrs;
    return copied;
}

tsr_status tsr_custom_add(tsr_graph *graph, const tsr_custom_op *ops, int count) {
    tsr_custom_op *copies = TSR_NEW(graph->arena, count, tsr_custom_op);
    bool copied = copies;
    for (int i = 0; i < count && copied; i++)
        copied = copy_op(graph->arena, &ops[i], &copies[i]);
    if (!copied)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %d custom operators", count);
    graph->custom_ops = copies;
    graph->custom_op_count = count;
    return TSR_OK;
}

const tsr_custom_op *tsr_custom_find(const tsr_graph *graph, const char *domain, const char *name) {
    for (int i = 0; i < graph->custom_op_count; i++)
        if (same_operator(&graph->custom_ops[i], domain, name))
            return &graph->custom_ops[i];
    return NULL;
}

/* ---- calls ---- */

tsr_custom_call tsr_custom_call_of(const tsr_graph *graph, const tsr_node *node) {
    tsr_custom_call call = {
        .user = node->custom->user, .node = node, .input_count = node->input_count};
    for (int i = 0; i < node->input_count; i++)
        call.input_shape[i] = tsr_node_in(graph, node, i)->shape;
    call.output_shape = tsr_node_out(graph, node, 0)->shape;
    return call;
}

tsr_status tsr_custom_run(tsr_custom_fn fn, tsr_custom_call *call, const char *what) {
    tsr_fail(TSR_OK, "%s", "");
    tsr_status status = fn(call);
    if (status != TSR_OK && !*tsr_last_error())
        tsr_fail(status, "its %s failed with %s and no message", what, tsr_status_name(status));
    return status;
}

tsr_status tsr_infer_custom(tsr_graph *graph, tsr_node *node) {
    const tsr_custom_op *op = node->custom;
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(graph, node, i);
        if (!tsr_dtype_is_float(in->dtype))
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "input %d ('%s') is %s: custom operators take floats", i, in->name,
                            tsr_dtype_name(in->dtype));
    }
    tsr_custom_call call = tsr_custom_call_of(graph, node);
    call.output_shape = call.input_shape[0];
    if (op->shape)
        TSR_TRY(tsr_custom_run(op->shape, &call, "shape function"));
    if (call.output_shape.rank < 0 || call.output_shape.rank > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_SHAPE, "its shape function gives a result of rank %d",
                        call.output_shape.rank);
    return tsr_set_output(graph, node, 0, tsr_node_in(graph, node, 0)->dtype, &call.output_shape);
}
