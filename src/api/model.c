#include "api/model.h"

#include <math.h>
#include <string.h>

#include "api/sized.h"
#include "base/allocator.h"
#include "base/error.h"
#include "base/memory.h"
#include "graph/custom.h"
#include "onnx/onnx.h"

/* ---- loading --------------------------------------------------------------------------------- */

/* A value is a parameter if an operator needs it when a session is made, directly or through nodes
 * that compute such a value from it. Not so where only
 * the input's shape counts (Shape): a session knows that anyway. */
static void mark_parameters(const tsr_graph *graph, bool *is_parameter) {
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const tsr_node *node = &graph->nodes[n];
        unsigned mask = tsr_op_has(node->op, TSR_PARAMETERS_MAY_VARY)
                            ? 0
                            : tsr_op_get_info(node->op)->parameters;
        bool all = false, shape_only = tsr_op_has(node->op, TSR_READS_SHAPE_ONLY);
        for (int i = 0; i < node->output_count && !shape_only; i++)
            all |= node->outputs[i] != TSR_NONE && is_parameter[node->outputs[i]];
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE && (all || (i < 32 && mask >> i & 1)))
                is_parameter[node->inputs[i]] = true;
    }
}

/* Completes a model whose graph was read. */
static tsr_status complete(tsr_model *model) {
    static atomic_ullong models;
    tsr_graph *graph = model->graph;
    model->is_parameter = TSR_NEW(graph->arena, graph->value_count, bool);
    if (!model->is_parameter)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for the model", graph->file);
    mark_parameters(graph, model->is_parameter);
    graph->model_id = atomic_fetch_add(&models, 1) + 1;
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v].model_constant = graph->values[v].data ? v + 1 : 0;
    tsr_maps_release(&model->maps);
    return TSR_OK;
}

/* The caller's description with defaults filled in, and a copy of its operators to be freed. */
static tsr_status take_desc(const tsr_model_desc *desc, size_t size, size_t custom_op_size,
                            const char *name, tsr_model_desc *filled) {
    void *ops;
    TSR_TRY(tsr_take_struct("tsr_model_desc", desc, size, filled, sizeof *filled));
    TSR_TRY(tsr_take_structs("tsr_custom_op", filled->custom_ops, custom_op_size,
                             filled->custom_op_count, sizeof *filled->custom_ops, &ops));
    filled->custom_ops = ops;
    if (!filled->files.size != !filled->files.read) {
        tsr_free(ops);
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_model_desc.files: size or read is NULL");
    }
    filled->name = filled->name ? filled->name : name;
    filled->max_bytes = filled->max_bytes ? filled->max_bytes : tsr_memory_bytes();
    filled->max_work = filled->max_work ? filled->max_work : (uint64_t)1 << 28;
    return TSR_OK;
}

static tsr_status read_model(const void *bytes, size_t size, const tsr_model_desc *desc,
                             tsr_progress_meter *progress, tsr_model *model) {
    TSR_TRY(tsr_fail_context(tsr_custom_check(desc->custom_ops, desc->custom_op_count), "%s",
                             desc->name));
    TSR_TRY(tsr_onnx_read(bytes, size, desc, &model->maps, progress, &model->graph));
    return complete(model);
}

/* map: of the bytes, which the call takes over; NULL: they may be freed after the call. */
static tsr_status load(const void *bytes, size_t size, const tsr_model_desc *desc, tsr_map *map,
                       tsr_progress_meter *progress, tsr_model **model) {
    tsr_model *created = tsr_calloc(1, sizeof *created);
    if (!created || (map && !tsr_maps_add(&created->maps, map))) {
        if (!created && map)
            tsr_map_close(map);
        tsr_free(created);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for the model", desc->name);
    }
    atomic_init(&created->references, 1);
    tsr_status status = read_model(bytes, size, desc, progress, created);
    if (status == TSR_OK)
        *model = created;
    else
        tsr_model_free(created);
    return status;
}

tsr_status tsr_model_of_graph(tsr_graph *graph, tsr_model **model) {
    tsr_model *made = tsr_calloc(1, sizeof *made);
    *model = NULL;
    if (!made)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for the model", graph->file);
    atomic_init(&made->references, 1);
    made->graph = graph;
    tsr_status status = complete(made);
    if (status == TSR_OK)
        *model = made;
    else
        tsr_free(made);
    return status;
}

static tsr_status load_memory(const void *bytes, size_t count, const tsr_model_desc *desc,
                              tsr_model **model) {
    if (!bytes || count == 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: there are no bytes", desc->name);
    if (count > desc->max_bytes)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: there are %zu bytes, max_bytes is %llu",
                        desc->name, count, (unsigned long long)desc->max_bytes);
    tsr_progress_meter progress = {.caller = desc->progress};
    return load(bytes, count, desc, NULL, &progress, model);
}

tsr_status tsr_model_load_memory_sized(const void *bytes, size_t count, const tsr_model_desc *desc,
                                       size_t size, size_t custom_op_size, tsr_model **model) {
    if (!model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_model_load_memory: model is NULL");
    *model = NULL;
    tsr_model_desc filled;
    TSR_TRY(take_desc(desc, size, custom_op_size, "model in memory", &filled));
    tsr_status status = load_memory(bytes, count, &filled, model);
    tsr_free((void *)filled.custom_ops);
    return status;
}

/* The folder of a path, for external data; NULL when out of memory. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : strlen(".");
    char *folder = tsr_calloc(length + 1, 1);
    if (folder)
        memcpy(folder, slash ? path : ".", length);
    return folder;
}

static tsr_status open_file(const char *path, const tsr_model_desc *desc, tsr_map *map,
                            tsr_progress_meter *progress) {
    if (!desc->files.size)
        return tsr_map_open(path, desc->max_bytes, map);
    tsr_progress_stage(progress, 0.5);
    return tsr_map_read(&desc->files, path, desc->max_bytes, progress, map);
}

static tsr_status load_file(const char *path, tsr_model_desc *desc, tsr_model **model) {
    tsr_map map;
    tsr_progress_meter progress = {.caller = desc->progress};
    desc->name = path;
    TSR_TRY(open_file(path, desc, &map, &progress));
    char *folder = folder_of(path);
    if (!folder) {
        tsr_map_close(&map);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory", path);
    }
    desc->external_data_dir = folder;
    tsr_status status = load(map.bytes, map.size, desc, &map, &progress, model);
    tsr_free(folder);
    return status;
}

tsr_status tsr_model_read(const char *path, const tsr_model_desc *desc, size_t size,
                          size_t custom_op_size, tsr_model **model) {
    if (!path || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_model_load: %s is NULL",
                        path ? "model" : "path");
    *model = NULL;
    tsr_model_desc filled;
    TSR_TRY(take_desc(desc, size, custom_op_size, path, &filled));
    tsr_status status = load_file(path, &filled, model);
    tsr_free((void *)filled.custom_ops);
    return status;
}

tsr_status tsr_model_load_sized(const char *path, const tsr_model_desc *desc, size_t size,
                                size_t custom_op_size, tsr_model **model) {
    TSR_TRY(tsr_model_read(path, desc, size, custom_op_size, model));
    tsr_graph_widen((*model)->graph, INFINITY);
    return TSR_OK;
}

tsr_model *tsr_model_retain(const tsr_model *model) {
    tsr_model *shared = (tsr_model *)model; /* the count is mutable */
    atomic_fetch_add(&shared->references, 1);
    return shared;
}

void tsr_model_free(tsr_model *model) {
    if (!model || atomic_fetch_sub(&model->references, 1) != 1)
        return;
    tsr_graph_destroy(model->graph);
    tsr_maps_close(&model->maps);
    tsr_free(model);
}

/* ---- properties ------------------------------------------------------------------------------ */

int tsr_model_input_count(const tsr_model *model) {
    return model ? model->graph->input_count : 0;
}

int tsr_model_output_count(const tsr_model *model) {
    return model ? model->graph->output_count : 0;
}

tsr_tensor_info tsr_tensor_info_of(const tsr_value *value) {
    tsr_tensor_info info = {.name = value->name, .dtype = value->dtype, .shape = value->shape};
    memcpy(info.dim_name, value->dim_name, sizeof info.dim_name);
    return info;
}

tsr_status tsr_model_input_sized(const tsr_model *model, int index, tsr_tensor_info *info,
                                 size_t size) {
    if (!info || index < 0 || index >= tsr_model_input_count(model))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_model_input: there is no input %d of %d",
                        index, tsr_model_input_count(model));
    const tsr_tensor_info known =
        tsr_tensor_info_of(&model->graph->values[model->graph->inputs[index]]);
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

tsr_status tsr_model_output_sized(const tsr_model *model, int index, tsr_tensor_info *info,
                                  size_t size) {
    if (!info || index < 0 || index >= tsr_model_output_count(model))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_model_output: there is no output %d of %d",
                        index, tsr_model_output_count(model));
    const tsr_tensor_info known =
        tsr_tensor_info_of(&model->graph->values[model->graph->outputs[index]]);
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

bool tsr_model_input_is_parameter(const tsr_model *model, int index) {
    if (index < 0 || index >= tsr_model_input_count(model))
        return false;
    return model->is_parameter[model->graph->inputs[index]];
}

int tsr_model_opset(const tsr_model *model) {
    return model ? model->graph->opset : 0;
}

int64_t tsr_model_parameter_count(const tsr_model *model) {
    int64_t total = 0;
    for (int v = 0; model && v < model->graph->value_count; v++) {
        const tsr_value *value = &model->graph->values[v];
        if (value->data && tsr_dtype_is_float(value->dtype))
            total += tsr_shape_count(&value->shape);
    }
    return total;
}

bool tsr_model_metadata(const tsr_model *model, int index, const char **key, const char **value) {
    if (!model || index < 0 || index >= model->graph->metadata_count)
        return false;
    if (key)
        *key = model->graph->metadata[index].key;
    if (value)
        *value = model->graph->metadata[index].value;
    return true;
}

/* Those of bodies, too; a call of a function counts as what it calls. */
static int count_nodes(const tsr_node *nodes, int node_count, tsr_op op,
                       const tsr_custom_op *custom) {
    int count = 0;
    for (int n = 0; n < node_count; n++) {
        const tsr_node *node = &nodes[n];
        count += node->op == op && node->custom == custom && op != TSR_OP_FunctionCall;
        for (int i = 0; i < node->attr_count; i++)
            if (node->attrs[i].kind == TSR_ATTR_GRAPH)
                count += count_nodes(node->attrs[i].body->nodes, node->attrs[i].body->node_count,
                                     op, custom);
    }
    return count;
}

/* ONNX's operators, then the custom ones. */
bool tsr_model_op(const tsr_model *model, int index, const char **op, int *count) {
    int kinds = model ? TSR_OP_COUNT + model->graph->custom_op_count : 0;
    for (int k = 0; k < kinds; k++) {
        const tsr_custom_op *custom =
            k < TSR_OP_COUNT ? NULL : &model->graph->custom_ops[k - TSR_OP_COUNT];
        tsr_op kind = custom ? TSR_OP_Custom : (tsr_op)k;
        int found = count_nodes(model->graph->nodes, model->graph->node_count, kind, custom);
        if (found == 0 || index-- != 0)
            continue;
        if (op)
            *op = custom ? custom->name : tsr_op_get_info(kind)->name;
        if (count)
            *count = found;
        return true;
    }
    return false;
}
