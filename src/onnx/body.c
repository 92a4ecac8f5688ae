/* Reads GraphProto: the model's graph, and graphs that attributes hold. */
#include "onnx/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static tsr_status read_dim(tsr_graph *graph, const Tsr__TensorShapeProto__Dimension *dim, int axis,
                           tsr_value *value) {
    value->shape.dim[axis] = dim->has_dim_value ? dim->dim_value : -1;
    if (value->shape.dim[axis] < -1)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "dimension %d is %" PRId64, axis, dim->dim_value);
    if (dim->has_dim_value || !dim->dim_param || !*dim->dim_param)
        return TSR_OK;
    value->dim_name[axis] = tsr_arena_strndup(graph->arena, dim->dim_param, strlen(dim->dim_param));
    return value->dim_name[axis] ? TSR_OK : tsr_onnx_out_of_memory();
}

static tsr_status note_other(tsr_reader *reader, const tsr_value *value, const char *what) {
    return tsr_onnx_note_lack(reader, TSR_LACKS_OTHER, "", what, value->name);
}

static tsr_status read_type(tsr_reader *reader, const Tsr__TypeProto *type, tsr_value *value) {
    if (!type || !type->tensor_type)
        return note_other(reader, value, "not declared as a tensor");
    TSR_TRY(tsr_onnx_dtype(reader, type->tensor_type->elem_type, value->name, &value->dtype));
    const Tsr__TensorShapeProto *shape = type->tensor_type->shape;
    if (!shape)
        return TSR_OK;
    if (shape->n_dim > TSR_MAX_RANK) {
        char rank[32];
        snprintf(rank, sizeof rank, "rank %zu", shape->n_dim);
        return note_other(reader, value, rank);
    }
    value->shape.rank = (int)shape->n_dim;
    for (int i = 0; i < value->shape.rank; i++)
        TSR_TRY(read_dim(reader->graph, shape->dim[i], i, value));
    return TSR_OK;
}

/* ---- inputs and initializers ---- */

/* Before IR version 4 every initializer of the model's graph is listed as an input, too. */
static bool is_initializer(const tsr_reader *reader, const char *name) {
    int value = reader->scope ? TSR_NONE : tsr_graph_find_value(reader->graph, name);
    return value != TSR_NONE && reader->graph->values[value].data;
}

/* A body's input needs no type: it has that of what it is given. */
static tsr_status read_input(tsr_reader *reader, const Tsr__ValueInfoProto *info, tsr_body *body) {
    tsr_graph *graph = reader->graph;
    if (!info->name || !*info->name)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it has no name");
    if (is_initializer(reader, info->name))
        return TSR_OK;
    if (tsr_onnx_has_value(reader, info->name))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is declared twice");
    const char *name = tsr_onnx_local_name(reader, info->name);
    int value = name ? tsr_graph_add_value(graph, name) : TSR_NONE;
    if (value == TSR_NONE)
        return tsr_onnx_out_of_memory();
    body->inputs[body->input_count++] = value;
    return reader->scope && !info->type ? TSR_OK
                                        : read_type(reader, info->type, &graph->values[value]);
}

static tsr_status read_inputs(tsr_reader *reader, const Tsr__GraphProto *proto, tsr_body *body) {
    body->inputs = TSR_NEW(reader->graph->arena, proto->n_input, int);
    if (!body->inputs)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu inputs", proto->n_input);
    for (size_t i = 0; i < proto->n_input; i++)
        TSR_TRY(tsr_fail_context(read_input(reader, proto->input[i], body), "input \"%s\"",
                                 proto->input[i]->name ? proto->input[i]->name : ""));
    return TSR_OK;
}

static tsr_status read_initializer(tsr_reader *reader, const Tsr__TensorProto *tensor, size_t i) {
    if (!tensor->name || !*tensor->name)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "initializer %zu has no name", i);
    if (tsr_onnx_has_value(reader, tensor->name))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "initializer \"%s\" is given twice", tensor->name);
    const char *name = tsr_onnx_local_name(reader, tensor->name);
    int value;
    return name ? tsr_onnx_add_tensor(reader, tensor, name, &value) : tsr_onnx_out_of_memory();
}

static tsr_status read_initializers(tsr_reader *reader, const Tsr__GraphProto *proto) {
    for (size_t i = 0; i < proto->n_initializer; i++) {
        TSR_TRY(tsr_progress_report(reader->progress, "reading weights", (int64_t)i,
                                    (int64_t)proto->n_initializer));
        TSR_TRY(read_initializer(reader, proto->initializer[i], i));
    }
    return tsr_progress_report(reader->progress, "reading weights", 1, 1);
}

/* ---- outputs ---- */

/* A body may give one value twice, and values around it. */
static tsr_status read_output(tsr_reader *reader, const Tsr__ValueInfoProto *info, tsr_body *body) {
    bool out_of_memory = false;
    int index = info->name && *info->name ? tsr_onnx_find_value(reader, info->name, &out_of_memory)
                                          : TSR_NONE;
    if (out_of_memory)
        return tsr_onnx_out_of_memory();
    if (index == TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "nothing produces it");
    for (int i = 0; i < body->output_count && !reader->scope; i++)
        if (body->outputs[i] == index)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is declared twice");
    body->outputs[body->output_count++] = index;
    tsr_value *value = &reader->graph->values[index];
    if (value->producer == TSR_NONE || !info->type)
        return TSR_OK;
    return read_type(reader, info->type, value);
}

enum { MAX_OUTPUTS = 4096 };

static tsr_status read_outputs(tsr_reader *reader, const Tsr__GraphProto *proto, tsr_body *body) {
    if (proto->n_output == 0 || proto->n_output > MAX_OUTPUTS)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the graph has %zu outputs", proto->n_output);
    body->outputs = TSR_NEW(reader->graph->arena, proto->n_output, int);
    if (!body->outputs)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu outputs", proto->n_output);
    for (size_t i = 0; i < proto->n_output; i++)
        TSR_TRY(tsr_fail_context(read_output(reader, proto->output[i], body), "output \"%s\"",
                                 proto->output[i]->name ? proto->output[i]->name : ""));
    return TSR_OK;
}

/* ---- graphs ---- */

static tsr_status read_parts(tsr_reader *reader, const Tsr__GraphProto *proto, tsr_body *body) {
    for (size_t i = 0; i < proto->n_sparse_initializer; i++) /* their names are not read */
        TSR_TRY(tsr_onnx_note_lack(reader, TSR_LACKS_OTHER, "", "sparse", ""));
    TSR_TRY(read_initializers(reader, proto));
    TSR_TRY(read_inputs(reader, proto, body));
    TSR_TRY(tsr_onnx_read_nodes(reader, proto, body));
    TSR_TRY(tsr_onnx_sort(reader->graph, body));
    return read_outputs(reader, proto, body);
}

tsr_status tsr_onnx_read_graph(tsr_reader *reader, const Tsr__GraphProto *proto) {
    tsr_body body = {0};
    tsr_graph *graph = reader->graph;
    TSR_TRY(read_parts(reader, proto, &body));
    graph->inputs = body.inputs;
    graph->input_count = body.input_count;
    graph->nodes = body.nodes;
    graph->node_count = body.node_count;
    graph->outputs = body.outputs;
    graph->output_count = body.output_count;
    return TSR_OK;
}

/* Its nodes are not those of the graph. */
static void forget_producers(tsr_graph *graph, int first) {
    for (int v = first; v < graph->value_count; v++)
        graph->values[v].producer = TSR_NONE;
}

static tsr_status open_scope(tsr_reader *reader, const Tsr__NodeProto *call, const char *node_name,
                             tsr_onnx_scope *scope) {
    enum { MAX_DEPTH = 16, SHOWN = 24 };
    tsr_onnx_scope *outer = reader->scope;
    *scope = (tsr_onnx_scope){.outer = outer,
                              .call = call,
                              .first_value = reader->graph->value_count,
                              .depth = outer ? outer->depth + 1 : 1,
                              .is_repeated = call || (outer && outer->is_repeated)};
    if (scope->depth > MAX_DEPTH)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "graphs are nested more than %d deep", MAX_DEPTH);
    scope->prefix =
        tsr_arena_printf(reader->graph->arena, "%.*s.%d/", SHOWN, node_name, ++reader->scope_count);
    if (!scope->prefix)
        return tsr_onnx_out_of_memory();
    reader->scope = scope;
    return TSR_OK;
}

static void close_scope(tsr_reader *reader, const tsr_onnx_scope *scope) {
    reader->scope = scope->outer;
    forget_producers(reader->graph, scope->first_value);
}

tsr_status tsr_onnx_read_body(tsr_reader *reader, const Tsr__AttributeProto *attr,
                              const char *node_name, const tsr_body **body) {
    tsr_onnx_heap heap;
    ProtobufCMessage *message;
    tsr_body *made = TSR_NEW(reader->graph->arena, 1, tsr_body);
    if (!made)
        return tsr_onnx_out_of_memory();
    *body = made;
    TSR_TRY(tsr_onnx_count_repeated(reader, tsr_onnx_range_of(&attr->g).size));
    TSR_TRY(tsr_onnx_unpack(&heap, &tsr__graph_proto__descriptor, reader->bytes,
                            tsr_onnx_range_of(&attr->g), reader->graph->max_bytes, &message));
    tsr_onnx_scope scope;
    tsr_status status = open_scope(reader, NULL, node_name, &scope);
    if (status == TSR_OK) {
        status = read_parts(reader, (Tsr__GraphProto *)message, made);
        close_scope(reader, &scope);
    }
    protobuf_c_message_free_unpacked(message, &heap.allocator);
    return status;
}

/* ---- functions ---- */

static tsr_status read_formal(tsr_reader *reader, const char *name, int *value) {
    if (!*name || tsr_onnx_has_value(reader, name))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the function's input \"%s\" %s", name,
                        *name ? "is declared twice" : "has no name");
    const char *local = tsr_onnx_local_name(reader, name);
    *value = local ? tsr_graph_add_value(reader->graph, local) : TSR_NONE;
    return *value == TSR_NONE ? tsr_onnx_out_of_memory() : TSR_OK;
}

static tsr_status read_result(tsr_reader *reader, const char *name, int *value) {
    bool out_of_memory = false;
    *value = *name ? tsr_onnx_find_value(reader, name, &out_of_memory) : TSR_NONE;
    if (out_of_memory)
        return tsr_onnx_out_of_memory();
    return *value == TSR_NONE ? tsr_fail(TSR_ERROR_INVALID_MODEL,
                                         "nothing produces the function's output \"%s\"", name)
                              : TSR_OK;
}

static tsr_status read_function(tsr_reader *reader, const Tsr__FunctionProto *function,
                                tsr_body *body) {
    Tsr__GraphProto nodes = TSR__GRAPH_PROTO__INIT;
    enum { BYTES = 256 }; /* of a node, of a value */
    uint64_t parts = function->n_node + function->n_input + function->n_output;
    nodes.n_node = function->n_node;
    nodes.node = function->node;
    for (size_t i = 0; i < function->n_node; i++)
        parts += function->node[i]->n_input + function->node[i]->n_output;
    TSR_TRY(tsr_onnx_count_repeated(reader, tsr__function_proto__get_packed_size(function) +
                                                parts * BYTES));
    body->inputs = TSR_NEW(reader->graph->arena, function->n_input, int);
    body->outputs = TSR_NEW(reader->graph->arena, function->n_output, int);
    if (!body->inputs || !body->outputs)
        return tsr_onnx_out_of_memory();
    for (; body->input_count < (int)function->n_input; body->input_count++)
        TSR_TRY(read_formal(reader, function->input[body->input_count],
                            &body->inputs[body->input_count]));
    TSR_TRY(tsr_onnx_read_nodes(reader, &nodes, body));
    TSR_TRY(tsr_onnx_sort(reader->graph, body));
    for (; body->output_count < (int)function->n_output; body->output_count++)
        TSR_TRY(read_result(reader, function->output[body->output_count],
                            &body->outputs[body->output_count]));
    return TSR_OK;
}

tsr_status tsr_onnx_read_function(tsr_reader *reader, const Tsr__FunctionProto *function,
                                  const Tsr__NodeProto *call, const char *node_name,
                                  const tsr_body **body) {
    tsr_body *made = TSR_NEW(reader->graph->arena, 1, tsr_body);
    if (!made)
        return tsr_onnx_out_of_memory();
    *body = made;
    tsr_onnx_scope scope;
    TSR_TRY(open_scope(reader, call, node_name, &scope));
    tsr_status status = read_function(reader, function, made);
    close_scope(reader, &scope);
    return status;
}
