#include "onnx/reader.h"

#include "graph/custom.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Files before version 3 import no operator sets; the maximum is the newest version that is known
 * here. */
enum { IR_VERSION_MIN = 3, IR_VERSION_MAX = 13 };

tsr_status tsr_onnx_out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
}

/* ---- model ---- */

/* 0 if only operators of other domains are imported. */
static tsr_status read_opset(const Tsr__ModelProto *model, int *opset) {
    int64_t version = 0;
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const Tsr__OperatorSetIdProto *import = model->opset_import[i];
        if (import->domain && *import->domain && strcmp(import->domain, "ai.onnx") != 0)
            continue;
        if (version && version != import->version)
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "opsets %" PRId64 " and %" PRId64 " are both imported", version,
                            import->version);
        version = import->version;
    }
    if (version < 0 || version > INT_MAX)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "opset %" PRId64 " is not supported", version);
    if (version > TSR_OPSET_MAX)
        tsr_log(TSR_LOG_WARN,
                "opset %" PRId64 " is newer than what is known: its operators are read as those of "
                "opset %d",
                version, TSR_OPSET_MAX);
    *opset = (int)version;
    return TSR_OK;
}

static tsr_status check_model(const Tsr__ModelProto *model) {
    if (!model->graph)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "no ONNX model: it has no graph");
    if (!model->has_ir_version || model->ir_version < 1)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "no ONNX model: it has no IR version");
    if (model->ir_version < IR_VERSION_MIN)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "IR version %" PRId64 " is not supported (only %d and later)",
                        model->ir_version, IR_VERSION_MIN);
    if (model->ir_version > IR_VERSION_MAX)
        tsr_log(TSR_LOG_WARN, "IR version %" PRId64 " is newer than %d, what is known",
                model->ir_version, IR_VERSION_MAX);
    if (model->n_functions)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "it defines %zu functions, which are not supported",
                        model->n_functions);
    if (model->graph->n_sparse_initializer)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "it has %zu sparse tensors, which are not supported",
                        model->graph->n_sparse_initializer);
    return TSR_OK;
}

/* ---- inputs and outputs ---- */

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

static tsr_status read_type(tsr_graph *graph, const Tsr__TypeProto *type, tsr_value *value) {
    if (!type || !type->tensor_type)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "it is not declared as a tensor");
    TSR_TRY(tsr_onnx_dtype(type->tensor_type->elem_type, &value->dtype));
    const Tsr__TensorShapeProto *shape = type->tensor_type->shape;
    if (!shape)
        return TSR_OK;
    if (shape->n_dim > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "rank %zu is above %d", shape->n_dim, TSR_MAX_RANK);
    value->shape.rank = (int)shape->n_dim;
    for (int i = 0; i < value->shape.rank; i++)
        TSR_TRY(read_dim(graph, shape->dim[i], i, value));
    return TSR_OK;
}

static tsr_status read_input(tsr_graph *graph, const Tsr__ValueInfoProto *info) {
    if (!info->name || !*info->name)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it has no name");
    int value = tsr_graph_find_value(graph, info->name);
    if (value != TSR_NONE && graph->values[value].data)
        return TSR_OK; /* before IR version 4 every initializer is listed as an input too */
    if (value != TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is declared twice");
    value = tsr_graph_add_value(graph, info->name);
    if (value == TSR_NONE)
        return tsr_onnx_out_of_memory();
    graph->inputs[graph->input_count++] = value;
    return read_type(graph, info->type, &graph->values[value]);
}

static tsr_status read_inputs(tsr_graph *graph, const Tsr__GraphProto *proto) {
    graph->inputs = TSR_NEW(graph->arena, proto->n_input, int);
    if (!graph->inputs)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu inputs", proto->n_input);
    for (size_t i = 0; i < proto->n_input; i++)
        TSR_TRY(tsr_fail_context(read_input(graph, proto->input[i]), "input \"%s\"",
                                 proto->input[i]->name ? proto->input[i]->name : ""));
    return TSR_OK;
}

static tsr_status read_initializers(tsr_reader *reader, const Tsr__GraphProto *proto) {
    for (size_t i = 0; i < proto->n_initializer; i++) {
        const Tsr__TensorProto *tensor = proto->initializer[i];
        int value;
        TSR_TRY(tsr_progress_report(reader->progress, "reading weights", (int64_t)i,
                                    (int64_t)proto->n_initializer));
        if (!tensor->name || !*tensor->name)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "initializer %zu has no name", i);
        if (tsr_graph_find_value(reader->graph, tensor->name) != TSR_NONE)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "initializer \"%s\" is given twice",
                            tensor->name);
        TSR_TRY(tsr_onnx_add_tensor(reader, tensor, tensor->name, &value));
    }
    return tsr_progress_report(reader->progress, "reading weights", 1, 1);
}

static tsr_status read_output(tsr_graph *graph, const Tsr__ValueInfoProto *info) {
    int index = info->name && *info->name ? tsr_graph_find_value(graph, info->name) : TSR_NONE;
    if (index == TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "nothing produces it");
    for (int i = 0; i < graph->output_count; i++)
        if (graph->outputs[i] == index)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is declared twice");
    graph->outputs[graph->output_count++] = index;
    tsr_value *value = &graph->values[index];
    if (value->producer == TSR_NONE || !info->type)
        return TSR_OK;
    return read_type(graph, info->type, value);
}

enum { MAX_OUTPUTS = 4096 };

static tsr_status read_outputs(tsr_graph *graph, const Tsr__GraphProto *proto) {
    if (proto->n_output == 0 || proto->n_output > MAX_OUTPUTS)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the graph has %zu outputs", proto->n_output);
    graph->outputs = TSR_NEW(graph->arena, proto->n_output, int);
    if (!graph->outputs)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu outputs", proto->n_output);
    for (size_t i = 0; i < proto->n_output; i++)
        TSR_TRY(tsr_fail_context(read_output(graph, proto->output[i]), "output \"%s\"",
                                 proto->output[i]->name ? proto->output[i]->name : ""));
    return TSR_OK;
}

/* ---- files ---- */

static tsr_status read_model(tsr_reader *reader, const Tsr__ModelProto *model) {
    tsr_graph *graph = reader->graph;
    TSR_TRY(check_model(model));
    TSR_TRY(read_opset(model, &graph->opset));
    TSR_TRY(read_initializers(reader, model->graph));
    TSR_TRY(read_inputs(graph, model->graph));
    TSR_TRY(tsr_onnx_read_nodes(reader, model->graph));
    TSR_TRY(tsr_onnx_sort(graph));
    return read_outputs(graph, model->graph);
}

static tsr_status read_tensor(tsr_reader *reader, const Tsr__TensorProto *tensor, int *value) {
    return tsr_onnx_add_tensor(reader, tensor, tensor->name ? tensor->name : "", value);
}

/* Ends a read: passes the graph to the caller or, after a failure, destroys it and puts the
 * file's name before the message. */
static tsr_status finish(tsr_reader *reader, ProtobufCMessage *message, tsr_status status,
                         tsr_graph **graph) {
    if (message)
        protobuf_c_message_free_unpacked(message, &reader->heap.allocator);
    tsr_fail_context(status, "%s", reader->graph->file);
    if (status == TSR_OK)
        *graph = reader->graph;
    else
        tsr_graph_destroy(reader->graph);
    return status;
}

tsr_status tsr_onnx_read(const void *bytes, size_t size, const tsr_model_desc *desc, tsr_maps *maps,
                         tsr_progress_meter *progress, tsr_graph **graph) {
    *graph = NULL;
    tsr_reader reader = {.graph = tsr_graph_create(desc->name),
                         .bytes = bytes,
                         .maps = maps,
                         .dir = desc->external_data_dir,
                         .files = &desc->files,
                         .progress = progress};
    if (!reader.graph)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", desc->name);
    reader.graph->maps = maps;
    reader.graph->max_bytes = desc->max_bytes;
    reader.graph->max_work = desc->max_work;
    reader.external_budget = desc->max_bytes > size ? desc->max_bytes - size : 0;
    tsr_progress_stage(progress, 1);
    ProtobufCMessage *message = NULL;
    tsr_status status = tsr_custom_add(reader.graph, desc->custom_ops, desc->custom_op_count);
    if (status == TSR_OK)
        status = tsr_onnx_unpack(&reader.heap, &tsr__model_proto__descriptor, bytes, size,
                                 desc->max_bytes, &message);
    if (status == TSR_OK)
        status = read_model(&reader, (Tsr__ModelProto *)message);
    return finish(&reader, message, status, graph);
}

tsr_status tsr_onnx_read_tensor(const void *bytes, size_t size, const char *name, tsr_graph **graph,
                                int *value) {
    *graph = NULL;
    *value = TSR_NONE;
    tsr_reader reader = {.graph = tsr_graph_create(name), .bytes = bytes};
    if (!reader.graph)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", name);
    ProtobufCMessage *message;
    tsr_status status = tsr_onnx_unpack(&reader.heap, &tsr__tensor_proto__descriptor, bytes, size,
                                        UINT64_MAX, &message);
    if (status == TSR_OK)
        status = read_tensor(&reader, (Tsr__TensorProto *)message, value);
    return finish(&reader, message, status, graph);
}
