#include "onnx/reader.h"

#include "graph/custom.h"

#include <stdio.h>
#include <string.h>

static bool is_constant(const Tsr__NodeProto *proto) {
    return strcmp(proto->op_type, "Constant") == 0 && !*tsr_domain(proto->domain);
}

/* ---- operators ---- */

static tsr_op find_op(const tsr_graph *graph, const Tsr__NodeProto *proto,
                      const tsr_custom_op **custom) {
    *custom = tsr_custom_find(graph, proto->domain, proto->op_type);
    if (*custom)
        return TSR_OP_Custom;
    tsr_op op = tsr_onnx_find_op(proto->op_type, graph->opset);
    if (op == TSR_OP_COUNT)
        return op;
    const char *domain = tsr_domain_name(tsr_op_domain(op));
    return strcmp(tsr_domain(proto->domain), domain) == 0 ? op : TSR_OP_COUNT;
}

static bool is_function_call(const tsr_reader *reader, const Tsr__NodeProto *proto) {
    return TSR_HAS(FunctionCall) && tsr_onnx_find_function(reader, proto);
}

/* Neither an operator nor a function of the model. */
static bool is_unknown(const tsr_reader *reader, const Tsr__NodeProto *proto) {
    const tsr_custom_op *custom;
    return !is_constant(proto) && find_op(reader->graph, proto, &custom) == TSR_OP_COUNT &&
           !is_function_call(reader, proto);
}

static tsr_status note_unknown(tsr_reader *reader, const Tsr__NodeProto *proto, size_t index) {
    char made[96];
    snprintf(made, sizeof made, "%.64s_%zu", proto->op_type, index);
    return tsr_onnx_note_lack(reader, TSR_LACKS_OPERATOR, tsr_domain(proto->domain), proto->op_type,
                              proto->name && *proto->name ? proto->name : made);
}

static tsr_status check_operators(tsr_reader *reader, const Tsr__GraphProto *proto) {
    for (size_t i = 0; i < proto->n_node; i++) {
        const Tsr__NodeProto *node = proto->node[i];
        if (!node->op_type || !*node->op_type)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "node %zu has no operator", i);
        if (!reader->graph->opset && !*tsr_domain(node->domain))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "no opset of ONNX's operators is imported");
        if (is_unknown(reader, node))
            TSR_TRY(note_unknown(reader, node, i));
    }
    return TSR_OK;
}

/* ---- values that nodes write ---- */

static tsr_status declare_output(tsr_reader *reader, const Tsr__NodeProto *proto,
                                 const char *name) {
    if (tsr_onnx_has_value(reader, name))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "its output \"%s\" exists already", name);
    int value;
    const char *local = tsr_onnx_local_name(reader, name);
    if (!local)
        return tsr_onnx_out_of_memory();
    if (is_constant(proto))
        return tsr_onnx_add_constant_node(reader, proto, local, &value);
    value = tsr_graph_add_value(reader->graph, local);
    return value == TSR_NONE ? tsr_onnx_out_of_memory() : TSR_OK;
}

static tsr_status declare_outputs(tsr_reader *reader, const Tsr__NodeProto *proto) {
    if (is_constant(proto) && (proto->n_output != 1 || !*proto->output[0]))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%zu outputs instead of one with a name",
                        proto->n_output);
    for (size_t i = 0; i < proto->n_output; i++)
        if (*proto->output[i])
            TSR_TRY(declare_output(reader, proto, proto->output[i]));
    return TSR_OK;
}

/* ---- nodes ---- */

static const char *node_name(tsr_arena *arena, const Tsr__NodeProto *proto, size_t index) {
    if (proto->name && *proto->name)
        return tsr_arena_strndup(arena, proto->name, strlen(proto->name));
    return tsr_arena_printf(arena, "%s_%zu", proto->op_type, index);
}

static tsr_status find_values(tsr_reader *reader, char **names, size_t count, int **values) {
    bool out_of_memory = false;
    *values = TSR_NEW(reader->graph->arena, count, int);
    if (!*values)
        return tsr_onnx_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        (*values)[i] = *names[i] ? tsr_onnx_find_value(reader, names[i], &out_of_memory) : TSR_NONE;
        if (out_of_memory)
            return tsr_onnx_out_of_memory();
        if (*names[i] && (*values)[i] == TSR_NONE)
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "\"%s\" is no input, no constant and no node's output", names[i]);
    }
    return TSR_OK;
}

static int without_absent_tail(const int *values, int count) {
    while (count && values[count - 1] == TSR_NONE)
        count--;
    return count;
}

static tsr_status check_count(const char *what, int count, int min, int max) {
    if (count >= min && count <= max)
        return TSR_OK;
    if (min == max)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d %s instead of %d", count, what, min);
    if (count < min)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d %s; it needs at least %d", count, what, min);
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d %s; it has at most %d", count, what, max);
}

static tsr_status check_values(tsr_node *node) {
    const tsr_op_info *info = tsr_op_get_info(node->op);
    const tsr_custom_op *custom = node->custom;
    int min_inputs = custom ? custom->min_inputs : info->min_inputs;
    int max_inputs = custom ? custom->max_inputs : info->max_inputs;
    node->input_count = without_absent_tail(node->inputs, node->input_count);
    node->output_count = without_absent_tail(node->outputs, node->output_count);
    TSR_TRY(check_count("inputs", node->input_count, min_inputs, max_inputs));
    TSR_TRY(check_count("outputs", node->output_count, info->min_outputs, info->max_outputs));
    int needed = custom || max_inputs == TSR_VARIADIC ? node->input_count : min_inputs;
    for (int i = 0; i < needed; i++)
        if (node->inputs[i] == TSR_NONE)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d is absent", i);
    return TSR_OK;
}

/* A form that is not supported is noted, and the node left as it is. */
static tsr_status upgrade(tsr_reader *reader, tsr_node *node, const char *type, bool *done) {
    tsr_status status = tsr_onnx_upgrade(reader->graph, node, type);
    *done = status == TSR_OK;
    return status == TSR_ERROR_UNSUPPORTED
               ? tsr_onnx_note_lack(reader, TSR_LACKS_FORM, type, tsr_last_error(), node->name)
               : status;
}

static tsr_status read_node(tsr_reader *reader, const Tsr__NodeProto *proto, tsr_node *node) {
    tsr_graph *graph = reader->graph;
    node->op = find_op(graph, proto, &node->custom);
    node->input_count = (int)proto->n_input;
    node->output_count = (int)proto->n_output;
    TSR_TRY(find_values(reader, proto->input, proto->n_input, &node->inputs));
    TSR_TRY(find_values(reader, proto->output, proto->n_output, &node->outputs));
    node->input_count = without_absent_tail(node->inputs, node->input_count);
    if (node->op == TSR_OP_COUNT) {
        node->op = TSR_OP_FunctionCall;
        if (!is_function_call(reader, proto)) /* it is noted */
            return TSR_OK;
        return tsr_onnx_read_call(reader, proto, node);
    }
    int captured = reader->captured.count, end_value = graph->value_count;
    TSR_TRY(tsr_onnx_read_attrs(reader, proto, node));
    bool is_newest = true;
    if (!node->custom)
        TSR_TRY(upgrade(reader, node, proto->op_type, &is_newest));
    if (!is_newest)
        return TSR_OK;
    TSR_TRY(check_values(node));
    if (node->custom)
        return tsr_onnx_complete_attrs(graph, node);
    TSR_TRY(tsr_onnx_check_attrs(reader, node));
    return tsr_onnx_add_captured(reader, captured, end_value, node);
}

/* Nodes, inputs and outputs are counted with ints. */
static tsr_status check_sizes(const Tsr__GraphProto *proto) {
    size_t total = proto->n_node;
    for (size_t i = 0; i < proto->n_node; i++)
        total += proto->node[i]->n_input + proto->node[i]->n_output;
    return total <= INT32_MAX / 4
               ? TSR_OK
               : tsr_fail(TSR_ERROR_UNSUPPORTED, "%zu nodes and their names are too many", total);
}

tsr_status tsr_onnx_read_nodes(tsr_reader *reader, const Tsr__GraphProto *proto, tsr_body *body) {
    tsr_graph *graph = reader->graph;
    TSR_TRY(check_sizes(proto));
    TSR_TRY(check_operators(reader, proto));
    body->nodes = TSR_NEW(graph->arena, proto->n_node, tsr_node);
    if (!body->nodes)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu nodes", proto->n_node);
    for (size_t i = 0; i < proto->n_node; i++)
        TSR_TRY(tsr_fail_context(declare_outputs(reader, proto->node[i]), "node %zu (%s)", i,
                                 proto->node[i]->op_type));
    *(reader->scope ? &reader->scope->end_value : &reader->end_value) = graph->value_count;
    for (size_t i = 0; i < proto->n_node; i++) {
        if (is_constant(proto->node[i]))
            continue;
        tsr_node *node = &body->nodes[body->node_count++];
        node->name = node_name(graph->arena, proto->node[i], i);
        if (!node->name)
            return tsr_onnx_out_of_memory();
        TSR_TRY(tsr_fail_context(read_node(reader, proto->node[i], node), "node \"%s\" (%s)",
                                 node->name, proto->node[i]->op_type));
    }
    return TSR_OK;
}
