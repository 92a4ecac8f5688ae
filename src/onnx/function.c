/* Functions that a model defines: a node that calls one has its nodes as a graph in an attribute.
 * A function is read once for each call, because its nodes may use attributes of the call. */
#include "onnx/reader.h"

#include "base/allocator.h"
#include "graph/custom.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct tsr_onnx_function {
    tsr_onnx_heap heap;
    Tsr__FunctionProto *proto;
};

static const char *text_of(const char *text) {
    return text ? text : "";
}

static int compare(const char *domain, const char *name, const char *overload,
                   const Tsr__FunctionProto *f) {
    int by_name = strcmp(name, text_of(f->name));
    int by_domain = by_name ? by_name : strcmp(tsr_domain(domain), tsr_domain(f->domain));
    return by_domain ? by_domain : strcmp(text_of(overload), text_of(f->overload));
}

static int compare_functions(const void *a, const void *b) {
    const Tsr__FunctionProto *f = ((const tsr_onnx_function *)a)->proto;
    return compare(f->domain, text_of(f->name), f->overload, ((const tsr_onnx_function *)b)->proto);
}

static int compare_call(const void *key, const void *function) {
    const Tsr__NodeProto *call = key;
    return compare(call->domain, call->op_type, call->overload,
                   ((const tsr_onnx_function *)function)->proto);
}

tsr_status tsr_onnx_load_functions(tsr_reader *reader, const Tsr__ModelProto *model) {
    size_t count = model->n_functions;
    reader->functions = tsr_calloc(count + 1, sizeof *reader->functions);
    if (!reader->functions)
        return tsr_onnx_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        tsr_onnx_function *f = &reader->functions[i];
        ProtobufCMessage *message;
        TSR_TRY(
            tsr_fail_context(tsr_onnx_unpack(&f->heap, &tsr__function_proto__descriptor,
                                             reader->bytes, tsr_onnx_range_of(&model->functions[i]),
                                             reader->graph->max_bytes, &message),
                             "function %zu", i));
        f->proto = (Tsr__FunctionProto *)message;
        reader->function_count++;
    }
    if (count)
        qsort(reader->functions, count, sizeof *reader->functions, compare_functions);
    return TSR_OK;
}

void tsr_onnx_free_functions(tsr_reader *reader) {
    for (size_t i = 0; i < reader->function_count; i++) {
        tsr_onnx_function *f = &reader->functions[i];
        f->heap.allocator.allocator_data = &f->heap; /* sorting has moved it */
        protobuf_c_message_free_unpacked(&f->proto->base, &f->heap.allocator);
    }
    tsr_free(reader->functions);
}

const Tsr__FunctionProto *tsr_onnx_find_function(const tsr_reader *reader,
                                                 const Tsr__NodeProto *call) {
    if (!reader->function_count)
        return NULL;
    const tsr_onnx_function *found = bsearch(call, reader->functions, reader->function_count,
                                             sizeof *reader->functions, compare_call);
    return found ? found->proto : NULL;
}

/* ---- attributes ---- */

static const Tsr__AttributeProto *find_attr(Tsr__AttributeProto *const *attrs, size_t count,
                                            const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(text_of(attrs[i]->name), name) == 0)
            return attrs[i];
    return NULL;
}

const Tsr__AttributeProto *tsr_onnx_attr_content(const tsr_reader *reader,
                                                 const Tsr__AttributeProto *attr) {
    const tsr_onnx_scope *scope = reader->scope;
    while (attr && *text_of(attr->ref_attr_name)) {
        const char *name = attr->ref_attr_name;
        while (scope && !scope->call)
            scope = scope->outer;
        if (!scope)
            return NULL;
        attr = find_attr(scope->call->attribute, scope->call->n_attribute, name);
        if (!attr) {
            const Tsr__FunctionProto *f = tsr_onnx_find_function(reader, scope->call);
            attr = find_attr(f->attribute_proto, f->n_attribute_proto, name);
        }
        scope = scope->outer;
    }
    return attr;
}

/* ---- calls ---- */

tsr_status tsr_onnx_count_repeated(tsr_reader *reader, uint64_t bytes) {
    enum { MAX_BYTES = 64 << 20 };
    if (!reader->scope || !reader->scope->is_repeated)
        return TSR_OK;
    reader->repeated += bytes < MAX_BYTES ? bytes : MAX_BYTES + 1;
    return reader->repeated <= MAX_BYTES
               ? TSR_OK
               : tsr_fail(
                     TSR_ERROR_UNSUPPORTED,
                     "its calls of functions have more than %d MiB of nodes and tensors in all",
                     MAX_BYTES >> 20);
}

/* 0: the function does not say. */
static int opset_of(const Tsr__FunctionProto *f) {
    for (size_t i = 0; i < f->n_opset_import; i++)
        if (!*tsr_domain(f->opset_import[i]->domain) && f->opset_import[i]->version > 0 &&
            f->opset_import[i]->version <= INT_MAX)
            return (int)f->opset_import[i]->version;
    return 0;
}

/* Absent inputs of the call are absent in the function. */
static tsr_status check_call(const Tsr__FunctionProto *f, const Tsr__NodeProto *call,
                             const tsr_node *node) {
    enum { MAX_ATTRS = 256 }; /* they are searched */
    if (call->n_attribute > MAX_ATTRS || f->n_attribute_proto > MAX_ATTRS)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a function with more than %d attributes",
                        (int)MAX_ATTRS);
    if ((size_t)node->input_count > f->n_input || (size_t)node->output_count > f->n_output ||
        node->output_count == 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "%d inputs and %d outputs; the function has %zu and %zu", node->input_count,
                        node->output_count, f->n_input, f->n_output);
    return TSR_OK;
}

/* As many as the function has. */
static tsr_status complete_inputs(tsr_graph *graph, const Tsr__FunctionProto *f, tsr_node *node) {
    int *inputs = TSR_NEW(graph->arena, f->n_input, int);
    if (!inputs)
        return tsr_onnx_out_of_memory();
    for (int i = 0; i < (int)f->n_input; i++)
        inputs[i] = i < node->input_count ? node->inputs[i] : TSR_NONE;
    node->inputs = inputs;
    node->input_count = (int)f->n_input;
    return TSR_OK;
}

tsr_status tsr_onnx_read_call(tsr_reader *reader, const Tsr__NodeProto *proto, tsr_node *node) {
    tsr_graph *graph = reader->graph;
    const Tsr__FunctionProto *f = tsr_onnx_find_function(reader, proto);
    int opset = graph->opset, own = opset_of(f);
    TSR_TRY(check_call(f, proto, node));
    TSR_TRY(complete_inputs(graph, f, node));
    node->attrs = TSR_NEW(graph->arena, 1, tsr_attr);
    if (!node->attrs)
        return tsr_onnx_out_of_memory();
    node->attrs[0] = (tsr_attr){.name = "body", .kind = TSR_ATTR_GRAPH};
    node->attr_count = 1;
    graph->opset = own ? own : opset;
    tsr_status status = tsr_onnx_read_function(reader, f, proto, node->name, &node->attrs[0].body);
    graph->opset = opset;
    return status;
}
