#define _POSIX_C_SOURCE 200809L
#include "onnx_writer.h"

#include "base/arena.h"
#include "base/dtype.h"
#include "graph/ops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct onnx_writer {
    tsr_arena *arena;
    Tsr__ModelProto *model;
    bool failed;
};

enum { IR_VERSION = 8 };

/* ---- memory ---------------------------------------------------------------------------------- */

void *onnx_alloc(onnx_writer *writer, size_t count, size_t size) {
    void *memory = tsr_arena_alloc(writer->arena, count, size);
    writer->failed |= !memory;
    return memory;
}

char *onnx_copy(onnx_writer *writer, const char *text) {
    char *copy = onnx_alloc(writer, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

static void *copy_array(onnx_writer *writer, const void *source, size_t count, size_t size) {
    void *copy = onnx_alloc(writer, count, size);
    return copy && count ? memcpy(copy, source, count * size) : copy;
}

#define MESSAGE_TYPE(Type, init)                                                                   \
    static Tsr__##Type *new_##Type(onnx_writer *writer) {                                          \
        Tsr__##Type *message = onnx_alloc(writer, 1, sizeof *message);                             \
        if (message)                                                                               \
            init(message);                                                                         \
        return message;                                                                            \
    }
MESSAGE_TYPE(ModelProto, tsr__model_proto__init)
MESSAGE_TYPE(GraphProto, tsr__graph_proto__init)
MESSAGE_TYPE(OperatorSetIdProto, tsr__operator_set_id_proto__init)
MESSAGE_TYPE(NodeProto, tsr__node_proto__init)
MESSAGE_TYPE(AttributeProto, tsr__attribute_proto__init)
MESSAGE_TYPE(TensorProto, tsr__tensor_proto__init)
MESSAGE_TYPE(ValueInfoProto, tsr__value_info_proto__init)
MESSAGE_TYPE(TypeProto, tsr__type_proto__init)
MESSAGE_TYPE(TypeProto__Tensor, tsr__type_proto__tensor__init)
MESSAGE_TYPE(TensorShapeProto, tsr__tensor_shape_proto__init)
MESSAGE_TYPE(TensorShapeProto__Dimension, tsr__tensor_shape_proto__dimension__init)

/* Lists double when their count is a power of two. */
void onnx_append(onnx_writer *writer, void *list, size_t *count, void *item) {
    if (!item)
        return;
    void **items;
    memcpy(&items, list, sizeof items);
    if ((*count & (*count - 1)) == 0) {
        void **larger = onnx_alloc(writer, *count ? 2 * *count : 1, sizeof *larger);
        if (!larger)
            return;
        if (*count)
            memcpy(larger, items, *count * sizeof *larger);
        items = larger;
        memcpy(list, &items, sizeof items);
    }
    items[(*count)++] = item;
}

/* ---- models ---------------------------------------------------------------------------------- */

static void import_domain(onnx_writer *writer, const char *domain, int version) {
    Tsr__ModelProto *model = writer->model;
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (strcmp(model->opset_import[i]->domain, domain) == 0)
            return;
    Tsr__OperatorSetIdProto *import = new_OperatorSetIdProto(writer);
    char *copy = onnx_copy(writer, domain);
    if (!import || !copy)
        return;
    import->domain = copy;
    import->has_version = true;
    import->version = version;
    onnx_append(writer, &model->opset_import, &model->n_opset_import, import);
}

onnx_writer *onnx_writer_create(int opset) {
    onnx_writer *writer = calloc(1, sizeof *writer);
    if (!writer || !(writer->arena = tsr_arena_create())) {
        free(writer);
        return NULL;
    }
    writer->model = new_ModelProto(writer);
    Tsr__GraphProto *graph = new_GraphProto(writer);
    if (writer->failed) {
        onnx_writer_destroy(writer);
        return NULL;
    }
    graph->name = "graph";
    writer->model->has_ir_version = true;
    writer->model->ir_version = IR_VERSION;
    writer->model->producer_name = "tessera";
    writer->model->graph = graph;
    import_domain(writer, "", opset);
    return writer;
}

void onnx_writer_destroy(onnx_writer *writer) {
    if (!writer)
        return;
    tsr_arena_destroy(writer->arena);
    free(writer);
}

Tsr__ModelProto *onnx_writer_model(onnx_writer *writer) {
    return writer->model;
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static Tsr__TensorShapeProto *new_shape(onnx_writer *writer, int rank, const int64_t *dims) {
    Tsr__TensorShapeProto *shape = new_TensorShapeProto(writer);
    for (int i = 0; shape && i < rank; i++) {
        Tsr__TensorShapeProto__Dimension *dim = new_TensorShapeProto__Dimension(writer);
        if (!dim)
            return NULL;
        dim->has_dim_value = dims[i] >= 0;
        dim->dim_value = dims[i];
        onnx_append(writer, &shape->dim, &shape->n_dim, dim);
    }
    return shape;
}

static Tsr__ValueInfoProto *new_info(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                     int rank, const int64_t *dims) {
    Tsr__ValueInfoProto *info = new_ValueInfoProto(writer);
    Tsr__TypeProto *type = new_TypeProto(writer);
    Tsr__TypeProto__Tensor *tensor = new_TypeProto__Tensor(writer);
    if (!info || !type || !tensor)
        return NULL;
    info->name = onnx_copy(writer, name);
    info->type = type;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = tsr_dtype_to_onnx(dtype);
    tensor->shape = rank < 0 ? NULL : new_shape(writer, rank, dims);
    return info;
}

Tsr__ValueInfoProto *onnx_add_input(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                    int rank, const int64_t *dims) {
    Tsr__ValueInfoProto *info = new_info(writer, name, dtype, rank, dims);
    onnx_append(writer, &writer->model->graph->input, &writer->model->graph->n_input, info);
    return info;
}

Tsr__ValueInfoProto *onnx_add_output(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                     int rank, const int64_t *dims) {
    Tsr__ValueInfoProto *info = new_info(writer, name, dtype, rank, dims);
    onnx_append(writer, &writer->model->graph->output, &writer->model->graph->n_output, info);
    return info;
}

void onnx_set_dim_name(onnx_writer *writer, Tsr__ValueInfoProto *info, int axis, const char *name) {
    if (!info || !info->type->tensor_type->shape)
        return;
    Tsr__TensorShapeProto__Dimension *dim = info->type->tensor_type->shape->dim[axis];
    dim->has_dim_value = false;
    dim->dim_param = onnx_copy(writer, name);
}

/* ---- tensors --------------------------------------------------------------------------------- */

Tsr__TensorProto *onnx_new_tensor(onnx_writer *writer, const char *name, tsr_dtype dtype, int rank,
                                  const int64_t *dims) {
    Tsr__TensorProto *tensor = new_TensorProto(writer);
    if (!tensor)
        return NULL;
    uint64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= (uint64_t)dims[i];
    size_t bytes = (size_t)tsr_dtype_file_bytes(dtype, count);
    tensor->name = onnx_copy(writer, name);
    tensor->has_data_type = true;
    tensor->data_type = tsr_dtype_to_onnx(dtype);
    tensor->n_dims = (size_t)rank;
    tensor->dims = copy_array(writer, dims, (size_t)rank, sizeof *dims);
    tensor->has_raw_data = true;
    tensor->raw_data.len = bytes;
    tensor->raw_data.data = onnx_alloc(writer, bytes, 1);
    return tensor->raw_data.data && tensor->dims ? tensor : NULL;
}

Tsr__TensorProto *onnx_add_initializer(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                       int rank, const int64_t *dims) {
    Tsr__GraphProto *graph = writer->model->graph;
    Tsr__TensorProto *tensor = onnx_new_tensor(writer, name, dtype, rank, dims);
    onnx_append(writer, &graph->initializer, &graph->n_initializer, tensor);
    return tensor;
}

static void *add_elements(onnx_writer *writer, const char *name, tsr_dtype dtype, int rank,
                          const int64_t *dims, const void *elements) {
    Tsr__TensorProto *tensor = onnx_add_initializer(writer, name, dtype, rank, dims);
    if (!tensor)
        return NULL;
    if (elements)
        memcpy(tensor->raw_data.data, elements, tensor->raw_data.len);
    return tensor->raw_data.data;
}

float *onnx_add_floats(onnx_writer *writer, const char *name, int rank, const int64_t *dims,
                       const float *elements) {
    return add_elements(writer, name, TSR_DTYPE_F32, rank, dims, elements);
}

int64_t *onnx_add_ints(onnx_writer *writer, const char *name, int rank, const int64_t *dims,
                       const int64_t *elements) {
    return add_elements(writer, name, TSR_DTYPE_I64, rank, dims, elements);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void split_names(onnx_writer *writer, const char *names, char ***list, size_t *count) {
    char *name = *names ? onnx_copy(writer, names) : NULL;
    while (name) {
        char *comma = strchr(name, ',');
        if (comma)
            *comma = 0;
        onnx_append(writer, list, count, name);
        name = comma ? comma + 1 : NULL;
    }
}

static void set_domain(onnx_writer *writer, Tsr__NodeProto *node, const char *domain,
                       size_t length) {
    char *copy = onnx_alloc(writer, length + 1, 1);
    if (!copy)
        return;
    memcpy(copy, domain, length);
    node->domain = copy;
    import_domain(writer, copy, 1);
}

Tsr__NodeProto *onnx_add_node(onnx_writer *writer, const char *op, const char *name,
                              const char *inputs, const char *outputs) {
    Tsr__GraphProto *graph = writer->model->graph;
    Tsr__NodeProto *node = new_NodeProto(writer);
    if (!node)
        return NULL;
    const char *colon = strchr(op, ':');
    node->op_type = onnx_copy(writer, colon ? colon + 1 : op);
    tsr_op known = tsr_op_find(op);
    if (colon)
        set_domain(writer, node, op, (size_t)(colon - op));
    else if (known != TSR_OP_COUNT && tsr_op_domain(known) != TSR_DOMAIN_ONNX) {
        const char *domain = tsr_domain_name(tsr_op_domain(known));
        set_domain(writer, node, domain, strlen(domain));
    }
    node->name = onnx_copy(writer, name);
    split_names(writer, inputs, &node->input, &node->n_input);
    split_names(writer, outputs, &node->output, &node->n_output);
    onnx_append(writer, &graph->node, &graph->n_node, node);
    return node;
}

static Tsr__AttributeProto *add_attribute(onnx_writer *writer, Tsr__NodeProto *node,
                                          const char *name,
                                          Tsr__AttributeProto__AttributeType type) {
    Tsr__AttributeProto *attribute = node ? new_AttributeProto(writer) : NULL;
    if (!attribute)
        return NULL;
    attribute->name = onnx_copy(writer, name);
    attribute->has_type = true;
    attribute->type = type;
    onnx_append(writer, &node->attribute, &node->n_attribute, attribute);
    return attribute;
}

Tsr__AttributeProto *onnx_set_int(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                  int64_t i) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    if (attribute) {
        attribute->has_i = true;
        attribute->i = i;
    }
    return attribute;
}

Tsr__AttributeProto *onnx_set_float(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                    float f) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    if (attribute) {
        attribute->has_f = true;
        attribute->f = f;
    }
    return attribute;
}

Tsr__AttributeProto *onnx_set_string(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                     const char *s) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    if (attribute) {
        attribute->has_s = true;
        attribute->s.data = (uint8_t *)onnx_copy(writer, s);
        attribute->s.len = attribute->s.data ? strlen(s) : 0;
    }
    return attribute;
}

Tsr__AttributeProto *onnx_set_strings(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                      size_t count, const char *const *strings) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    ProtobufCBinaryData *list = TSR_NEW(writer->arena, count, ProtobufCBinaryData);
    if (!attribute || !list)
        return attribute;
    attribute->n_strings = count;
    attribute->strings = list;
    for (size_t i = 0; i < count; i++) {
        list[i].data = (uint8_t *)onnx_copy(writer, strings[i]);
        list[i].len = list[i].data ? strlen(strings[i]) : 0;
    }
    return attribute;
}

Tsr__AttributeProto *onnx_set_ints(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                   size_t count, const int64_t *ints) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    if (attribute) {
        attribute->ints = copy_array(writer, ints, count, sizeof *ints);
        attribute->n_ints = attribute->ints ? count : 0;
    }
    return attribute;
}

Tsr__AttributeProto *onnx_set_floats(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                     size_t count, const float *floats) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
    if (attribute) {
        attribute->floats = copy_array(writer, floats, count, sizeof *floats);
        attribute->n_floats = attribute->floats ? count : 0;
    }
    return attribute;
}

Tsr__AttributeProto *onnx_set_tensor(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                     Tsr__TensorProto *tensor) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    if (attribute)
        attribute->t = tensor;
    return attribute;
}

Tsr__AttributeProto *onnx_set_graph(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                    const onnx_writer *graph) {
    Tsr__AttributeProto *attribute =
        add_attribute(writer, node, name, TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);
    const Tsr__GraphProto *source = graph ? graph->model->graph : NULL;
    size_t size = source ? tsr__graph_proto__get_packed_size(source) : 0;
    uint8_t *bytes = onnx_alloc(writer, size + 1, 1);
    writer->failed |= !graph || graph->failed;
    if (!attribute || !source || !bytes)
        return NULL;
    attribute->has_g = true;
    attribute->g = (ProtobufCBinaryData){size, bytes};
    tsr__graph_proto__pack(source, bytes);
    return attribute;
}

/* ---- writing --------------------------------------------------------------------------------- */

uint8_t *onnx_write_memory(const onnx_writer *writer, size_t *size) {
    *size = writer->failed ? 0 : tsr__model_proto__get_packed_size(writer->model);
    uint8_t *bytes = writer->failed ? NULL : malloc(*size ? *size : 1);
    if (bytes)
        tsr__model_proto__pack(writer->model, bytes);
    return bytes;
}

typedef struct file_buffer {
    ProtobufCBuffer base;
    FILE *file;
} file_buffer;

static void append_to_file(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes) {
    fwrite(bytes, 1, size, ((file_buffer *)buffer)->file); /* checked with ferror at the end */
}

/* Closes file. */
static bool pack_into(const onnx_writer *writer, FILE *file) {
    file_buffer buffer = {.base.append = append_to_file, .file = file};
    tsr__model_proto__pack_to_buffer(writer->model, &buffer.base);
    bool written = !ferror(file);
    return (fclose(file) == 0) & written;
}

/* A pipe or a device is written to directly: renaming a file to its name would remove it. */
static bool is_special(const char *path) {
    struct stat place;
    return stat(path, &place) == 0 && !S_ISREG(place.st_mode);
}

bool onnx_write_file(const onnx_writer *writer, const char *path) {
    size_t size = strlen(path) + 32;
    char *temporary = writer->failed ? NULL : malloc(size);
    if (!temporary) {
        errno = ENOMEM;
        return false;
    }
    snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    bool special = is_special(path);
    FILE *file = special ? fopen(path, "wb") : fopen(temporary, "wbx");
    bool done = file && pack_into(writer, file) && (special || rename(temporary, path) == 0);
    int reason = errno;
    if (file && !done && !special)
        remove(temporary);
    free(temporary);
    errno = reason;
    return done;
}
