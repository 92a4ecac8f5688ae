#include "onnx/reader.h"

#include "base/allocator.h"
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

/* Of a domain that is known here, but for ONNX's. */
static tsr_status check_version(const char *domain, int64_t version) {
    for (int i = 0; i < TSR_DOMAIN_COUNT; i++)
        if (i != TSR_DOMAIN_ONNX && version != TSR_DOMAIN_VERSION &&
            strcmp(domain, tsr_domain_name((tsr_domain_id)i)) == 0)
            return tsr_fail(TSR_ERROR_UNSUPPORTED, "version %" PRId64 " of %s is not supported",
                            version, domain);
    return TSR_OK;
}

/* 0 if only operators of other domains are imported. */
static tsr_status read_opset(const Tsr__ModelProto *model, int *opset) {
    int64_t version = 0;
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const Tsr__OperatorSetIdProto *import = model->opset_import[i];
        const char *domain = tsr_domain(import->domain);
        TSR_TRY(check_version(domain, import->version));
        if (*domain)
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
    return TSR_OK;
}

/* ---- files ---- */

static tsr_status read_metadata(tsr_graph *graph, const Tsr__ModelProto *model) {
    tsr_metadata *entries = TSR_NEW(graph->arena, model->n_metadata_props, tsr_metadata);
    if (!entries || model->n_metadata_props > INT_MAX)
        return tsr_onnx_out_of_memory();
    for (size_t i = 0; i < model->n_metadata_props; i++) {
        const Tsr__StringStringEntryProto *entry = model->metadata_props[i];
        const char *key = entry->key ? entry->key : "", *value = entry->value ? entry->value : "";
        entries[i] = (tsr_metadata){tsr_arena_strndup(graph->arena, key, strlen(key)),
                                    tsr_arena_strndup(graph->arena, value, strlen(value))};
        if (!entries[i].key || !entries[i].value)
            return tsr_onnx_out_of_memory();
    }
    graph->metadata_count = (int)model->n_metadata_props;
    graph->metadata = entries;
    return TSR_OK;
}

static tsr_status read_model(tsr_reader *reader, const Tsr__ModelProto *model) {
    tsr_graph *graph = reader->graph;
    TSR_TRY(check_model(model));
    TSR_TRY(read_opset(model, &graph->opset));
    TSR_TRY(read_metadata(graph, model));
    TSR_TRY(tsr_onnx_load_functions(reader, model));
    return tsr_onnx_read_graph(reader, model->graph);
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
    tsr_onnx_free_functions(reader);
    tsr_free(reader->captured.values);
    tsr_free(reader->name);
    status = tsr_onnx_refuse_lacks(reader, status);
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
        status = tsr_onnx_unpack(&reader.heap, &tsr__model_proto__descriptor, bytes,
                                 (tsr_onnx_range){0, size}, desc->max_bytes, &message);
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
    tsr_status status = tsr_onnx_unpack(&reader.heap, &tsr__tensor_proto__descriptor, bytes,
                                        (tsr_onnx_range){0, size}, UINT64_MAX, &message);
    if (status == TSR_OK)
        status = read_tensor(&reader, (Tsr__TensorProto *)message, value);
    return finish(&reader, message, status, graph);
}
