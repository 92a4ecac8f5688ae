/* A graph as an ONNX file. */
#include "onnx/writer.h"

#include "base/dtype.h"
#include "base/error.h"

#include <limits.h>
#include <string.h>

tsr_status tsr_write_out_of_memory(const tsr_writer *w) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory to write the model", w->graph->file);
}

/* Doubles an array of pointers that is full; false when out of memory. */
static bool make_room(tsr_arena *arena, void *array, size_t count, size_t *room) {
    void **old, **larger;
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 16;
    memcpy(&old, array, sizeof old);
    larger = TSR_NEW(arena, more, void *);
    if (!larger)
        return false;
    if (count)
        memcpy(larger, old, count * sizeof *larger);
    memcpy(array, &larger, sizeof larger);
    *room = more;
    return true;
}

static char *copy_text(tsr_writer *w, const char *text) {
    char *copy = tsr_arena_strndup(w->arena, text, strlen(text));
    if (!copy)
        tsr_write_out_of_memory(w);
    return copy;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Floats of 32 bits are in a graph as they are in a file. */
static tsr_status write_elements(tsr_writer *w, tsr_dtype dtype, int64_t count, const void *data,
                                 ProtobufCBinaryData *bytes) {
    bytes->len = (size_t)tsr_dtype_file_bytes(dtype, (uint64_t)count);
    if (dtype == TSR_DTYPE_F32) {
        bytes->data = (uint8_t *)data;
        return TSR_OK;
    }
    bytes->data = tsr_arena_alloc(w->arena, bytes->len, 1);
    if (!bytes->data)
        return tsr_write_out_of_memory(w);
    tsr_dtype_store_file(dtype, data, (size_t)count, bytes->data);
    return TSR_OK;
}

Tsr__TensorProto *tsr_write_tensor(tsr_writer *w, const char *name, tsr_dtype dtype,
                                   const tsr_shape *shape, const void *data) {
    Tsr__TensorProto *tensor = TSR_NEW(w->arena, 1, Tsr__TensorProto);
    int64_t *dims = TSR_NEW(w->arena, TSR_MAX_RANK, int64_t);
    if (!tensor || !dims) {
        tsr_write_out_of_memory(w);
        return NULL;
    }
    tsr__tensor_proto__init(tensor);
    memcpy(dims, shape->dim, sizeof shape->dim);
    tensor->n_dims = (size_t)shape->rank;
    tensor->dims = dims;
    tensor->has_data_type = true;
    tensor->data_type = tsr_dtype_to_onnx(dtype);
    tensor->name = copy_text(w, name);
    tensor->has_raw_data = true;
    if (!tensor->name ||
        write_elements(w, dtype, tsr_shape_count(shape), data, &tensor->raw_data) != TSR_OK)
        return NULL;
    return tensor;
}

tsr_status tsr_write_constant(tsr_writer *w, Tsr__TensorProto *tensor) {
    tsr_onnx_tensors *list = &w->constants;
    if (!tensor)
        return TSR_ERROR_OUT_OF_MEMORY;
    if (!make_room(w->arena, &list->tensors, list->count, &list->room))
        return tsr_write_out_of_memory(w);
    list->tensors[list->count++] = tensor;
    return TSR_OK;
}

char *tsr_write_value(tsr_writer *w, int value) {
    if (value == TSR_NONE)
        return copy_text(w, "");
    const tsr_value *v = &w->graph->values[value];
    if (v->data && !w->is_written[value]) {
        w->is_written[value] = true;
        if (tsr_write_constant(w, tsr_write_tensor(w, v->name, v->dtype, &v->shape, v->data)) !=
            TSR_OK)
            return NULL;
    }
    return copy_text(w, v->name);
}

char *tsr_write_new_name(tsr_writer *w, const tsr_node *node, const char *what) {
    char *name;
    do
        name = tsr_arena_printf(w->arena, "%s.%s%d", node->name, what, ++w->made_count);
    while (name && tsr_graph_find_value(w->graph, name) != TSR_NONE);
    if (!name)
        tsr_write_out_of_memory(w);
    return name;
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static tsr_status write_shape(tsr_writer *w, const tsr_value *value, Tsr__TypeProto__Tensor *type) {
    size_t rank = (size_t)value->shape.rank;
    Tsr__TensorShapeProto *shape = TSR_NEW(w->arena, 1, Tsr__TensorShapeProto);
    Tsr__TensorShapeProto__Dimension *dims =
        TSR_NEW(w->arena, rank, Tsr__TensorShapeProto__Dimension);
    Tsr__TensorShapeProto__Dimension **list =
        TSR_NEW(w->arena, rank, Tsr__TensorShapeProto__Dimension *);
    if (!shape || !dims || !list)
        return tsr_write_out_of_memory(w);
    tsr__tensor_shape_proto__init(shape);
    shape->n_dim = rank;
    shape->dim = list;
    for (size_t i = 0; i < rank; i++) {
        list[i] = &dims[i];
        tsr__tensor_shape_proto__dimension__init(&dims[i]);
        dims[i].has_dim_value = value->shape.dim[i] >= 0;
        dims[i].dim_value = dims[i].has_dim_value ? value->shape.dim[i] : 0;
        if (!dims[i].has_dim_value)
            dims[i].dim_param = (char *)value->dim_name[i];
    }
    type->shape = shape;
    return TSR_OK;
}

static tsr_status write_type(tsr_writer *w, const tsr_value *value, Tsr__ValueInfoProto *info) {
    Tsr__TypeProto *type = TSR_NEW(w->arena, 1, Tsr__TypeProto);
    Tsr__TypeProto__Tensor *tensor = TSR_NEW(w->arena, 1, Tsr__TypeProto__Tensor);
    if (!type || !tensor)
        return tsr_write_out_of_memory(w);
    tsr__type_proto__init(type);
    tsr__type_proto__tensor__init(tensor);
    info->type = type;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = tsr_dtype_to_onnx(value->dtype);
    return value->shape.rank >= 0 ? write_shape(w, value, tensor) : TSR_OK;
}

/* Of a body's inputs and outputs a file need not declare types: where there is no shape, there may
 * have been no type. */
static tsr_status write_infos(tsr_writer *w, int count, const int *values, bool of_body,
                              Tsr__ValueInfoProto ***infos) {
    *infos = TSR_NEW(w->arena, count, Tsr__ValueInfoProto *);
    if (!*infos)
        return tsr_write_out_of_memory(w);
    for (int i = 0; i < count; i++) {
        const tsr_value *value = &w->graph->values[values[i]];
        Tsr__ValueInfoProto *info = (*infos)[i] = TSR_NEW(w->arena, 1, Tsr__ValueInfoProto);
        if (!info)
            return tsr_write_out_of_memory(w);
        tsr__value_info_proto__init(info);
        info->name = tsr_write_value(w, values[i]);
        if (!info->name)
            return TSR_ERROR_OUT_OF_MEMORY;
        if (!of_body || value->shape.rank >= 0)
            TSR_TRY(write_type(w, value, info));
    }
    return TSR_OK;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

Tsr__NodeProto *tsr_write_new_node(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node,
                                   const char *op, int input_count, int output_count) {
    Tsr__NodeProto *made = TSR_NEW(w->arena, 1, Tsr__NodeProto);
    char **names = TSR_NEW(w->arena, input_count + output_count, char *);
    if (!made || !names || !make_room(w->arena, &list->nodes, list->count, &list->room)) {
        tsr_write_out_of_memory(w);
        return NULL;
    }
    tsr__node_proto__init(made);
    made->op_type = copy_text(w, op);
    made->name = copy_text(w, node->name);
    made->n_input = (size_t)input_count;
    made->input = names;
    made->n_output = (size_t)output_count;
    made->output = names + input_count;
    if (!made->op_type || !made->name)
        return NULL;
    list->nodes[list->count++] = made;
    return made;
}

static tsr_status write_nodes(tsr_writer *w, const tsr_node *nodes, int count,
                              tsr_onnx_nodes *list) {
    for (int n = 0; n < count; n++)
        TSR_TRY(tsr_fail_context(tsr_write_node(w, list, &nodes[n]), "node '%s' (%s)",
                                 nodes[n].name, tsr_node_op_name(&nodes[n])));
    return TSR_OK;
}

static bool is_computed_in(const tsr_body *body, int value) {
    for (int n = 0; n < body->node_count; n++)
        for (int i = 0; i < body->nodes[n].output_count; i++)
            if (body->nodes[n].outputs[i] == value)
                return true;
    return false;
}

/* A body's outputs have to be computed in it: what is not is copied. */
static tsr_status write_body_outputs(tsr_writer *w, const tsr_node *node, const tsr_body *body,
                                     tsr_onnx_nodes *list, Tsr__GraphProto *graph) {
    graph->n_output = (size_t)body->output_count;
    TSR_TRY(write_infos(w, body->output_count, body->outputs, true, &graph->output));
    for (int i = 0; i < body->output_count; i++) {
        if (is_computed_in(body, body->outputs[i]))
            continue;
        Tsr__NodeProto *copy = tsr_write_new_node(w, list, node, "Identity", 1, 1);
        char *name = copy ? tsr_write_new_name(w, node, "copy") : NULL;
        if (!name)
            return TSR_ERROR_OUT_OF_MEMORY;
        copy->input[0] = graph->output[i]->name;
        copy->output[0] = graph->output[i]->name = name;
    }
    return TSR_OK;
}

tsr_status tsr_write_body(tsr_writer *w, const tsr_node *node, const tsr_body *body,
                          ProtobufCBinaryData *bytes) {
    Tsr__GraphProto graph = TSR__GRAPH_PROTO__INIT;
    tsr_onnx_nodes list = {0};
    graph.name = (char *)node->name;
    TSR_TRY(write_nodes(w, body->nodes, body->node_count, &list));
    graph.n_input = (size_t)body->input_count;
    TSR_TRY(write_infos(w, body->input_count, body->inputs, true, &graph.input));
    TSR_TRY(write_body_outputs(w, node, body, &list, &graph));
    graph.n_node = list.count;
    graph.node = list.nodes;
    bytes->len = tsr__graph_proto__get_packed_size(&graph);
    bytes->data = tsr_arena_alloc(w->arena, bytes->len, 1);
    if (!bytes->data)
        return tsr_write_out_of_memory(w);
    tsr__graph_proto__pack(&graph, bytes->data);
    return TSR_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The first IR version of which files may have the opset. */
static int64_t ir_version(int opset) {
    static const struct {
        int opset, version;
    } first[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {0, 7}};
    int i = 0;
    while (opset < first[i].opset)
        i++;
    return first[i].version;
}

typedef struct sink {
    ProtobufCBuffer buffer; /* first: protobuf-c passes its address */
    tsr_write_fn write;
    void *user;
    bool failed;
} sink;

static void append_bytes(ProtobufCBuffer *buffer, size_t length, const uint8_t *data) {
    sink *s = (sink *)(void *)buffer;
    s->failed = s->failed || !s->write(s->user, (const char *)data, length);
}

static tsr_status send(const tsr_writer *w, const Tsr__ModelProto *model, tsr_write_fn write,
                       void *user) {
    sink s = {.buffer = {append_bytes}, .write = write, .user = user};
    size_t size = tsr__model_proto__get_packed_size(model);
    if (size > INT32_MAX)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: the file would have %zu bytes; an ONNX file has less than 2 GiB",
                        w->graph->file, size);
    tsr__model_proto__pack_to_buffer(model, &s.buffer);
    return s.failed ? tsr_fail(TSR_ERROR_IO, "%s: the model cannot be written", w->graph->file)
                    : TSR_OK;
}

static tsr_status write_graph(tsr_writer *w, Tsr__GraphProto *proto) {
    const tsr_graph *graph = w->graph;
    tsr_onnx_nodes list = {0};
    proto->name = "graph";
    TSR_TRY(tsr_fail_context(write_nodes(w, graph->nodes, graph->node_count, &list), "%s",
                             graph->file));
    proto->n_input = (size_t)graph->input_count;
    proto->n_output = (size_t)graph->output_count;
    TSR_TRY(write_infos(w, graph->input_count, graph->inputs, false, &proto->input));
    TSR_TRY(write_infos(w, graph->output_count, graph->outputs, false, &proto->output));
    proto->n_node = list.count;
    proto->node = list.nodes;
    proto->n_initializer = w->constants.count;
    proto->initializer = w->constants.tensors;
    return TSR_OK;
}

static tsr_status write_metadata(tsr_writer *w, Tsr__ModelProto *model) {
    size_t count = (size_t)w->graph->metadata_count;
    Tsr__StringStringEntryProto *entries = TSR_NEW(w->arena, count, Tsr__StringStringEntryProto);
    model->metadata_props = TSR_NEW(w->arena, count, Tsr__StringStringEntryProto *);
    if (!entries || !model->metadata_props)
        return tsr_write_out_of_memory(w);
    for (size_t i = 0; i < count; i++) {
        tsr__string_string_entry_proto__init(&entries[i]);
        entries[i].key = (char *)w->graph->metadata[i].key;
        entries[i].value = (char *)w->graph->metadata[i].value;
        model->metadata_props[i] = &entries[i];
    }
    model->n_metadata_props = count;
    return TSR_OK;
}

/* The opset of ONNX, and those of other domains whose operators were written. */
static tsr_status write_opsets(tsr_writer *w, Tsr__ModelProto *model) {
    Tsr__OperatorSetIdProto *opsets = TSR_NEW(w->arena, TSR_DOMAIN_COUNT, Tsr__OperatorSetIdProto);
    model->opset_import = TSR_NEW(w->arena, TSR_DOMAIN_COUNT, Tsr__OperatorSetIdProto *);
    if (!opsets || !model->opset_import)
        return tsr_write_out_of_memory(w);
    for (int i = 0; i < TSR_DOMAIN_COUNT; i++) {
        if (i != TSR_DOMAIN_ONNX && !w->writes_domain[i])
            continue;
        tsr__operator_set_id_proto__init(&opsets[i]);
        opsets[i].domain = (char *)tsr_domain_name((tsr_domain_id)i);
        opsets[i].has_version = true;
        opsets[i].version = i == TSR_DOMAIN_ONNX ? w->opset : TSR_DOMAIN_VERSION;
        model->opset_import[model->n_opset_import++] = &opsets[i];
    }
    return TSR_OK;
}

static tsr_status write_model(tsr_writer *w, tsr_write_fn write, void *user) {
    Tsr__ModelProto model = TSR__MODEL_PROTO__INIT;
    Tsr__GraphProto graph = TSR__GRAPH_PROTO__INIT;
    w->is_written = TSR_NEW(w->arena, w->graph->value_count, bool);
    if (!w->is_written)
        return tsr_write_out_of_memory(w);
    model.has_ir_version = true;
    model.ir_version = ir_version(w->opset);
    model.producer_name = "tessera";
    model.graph = &graph;
    TSR_TRY(write_metadata(w, &model));
    TSR_TRY(write_graph(w, &graph));
    TSR_TRY(write_opsets(w, &model));
    return send(w, &model, write, user);
}

tsr_status tsr_onnx_write(const tsr_graph *graph, int opset, tsr_write_fn write, void *user) {
    tsr_writer w = {.graph = graph, .arena = tsr_arena_create(), .opset = opset};
    if (!w.arena)
        return tsr_write_out_of_memory(&w);
    tsr_status status = write_model(&w, write, user);
    tsr_arena_destroy(w.arena);
    return status;
}
