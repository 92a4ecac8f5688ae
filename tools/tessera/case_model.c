/* A case as an ONNX model of one node, with graphs in its attributes. */
#include "case.h"
#include "tool.h"

#include "base/dtype.h"
#include "graph/ops.h"
#include "onnx_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 8, MOST_NODES = 64 };

typedef struct model_builder {
    const op_case *c;
    onnx_writer *writer; /* of the graph that is built */
    int depth;           /* graphs around it */
} model_builder;

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static tsr_status out_of_memory(const op_case *c) {
    return case_fail(c, "the model", "not enough memory");
}

/* ---- tensors --------------------------------------------------------------------------------- */

static tsr_status fill(const model_builder *b, Tsr__TensorProto *proto, const tensor *data,
                       const char *name) {
    void *packed;
    if (!proto)
        return out_of_memory(b->c);
    TRY(tensor_pack(data, data->dtype, name, &packed));
    if (data->integers)
        tsr_dtype_store_file(data->dtype, data->integers, data->count, proto->raw_data.data);
    else
        memcpy(proto->raw_data.data, packed, proto->raw_data.len);
    free(packed);
    return TSR_OK;
}

static tsr_status add_input(const model_builder *b, const case_variable *v) {
    const tsr_shape *shape = &v->data.shape;
    if (v->is_absent)
        return TSR_OK;
    if (!v->is_constant)
        return onnx_add_input(b->writer, v->name, v->data.dtype, shape->rank, shape->dim)
                   ? TSR_OK
                   : out_of_memory(b->c);
    Tsr__TensorProto *proto =
        onnx_add_initializer(b->writer, v->name, v->data.dtype, shape->rank, shape->dim);
    return fill(b, proto, &v->data, v->name);
}

static tsr_status set_tensor(const model_builder *b, Tsr__NodeProto *node, const cJSON *json) {
    case_variable v;
    TRY(case_variable_read(b->c, json->string, member(json, "tensor"), &v));
    if (v.is_absent || v.is_from_cpu)
        return case_fail(b->c, json->string, "it has no elements");
    const tsr_shape *shape = &v.data.shape;
    Tsr__TensorProto *proto =
        onnx_new_tensor(b->writer, json->string, v.data.dtype, shape->rank, shape->dim);
    tsr_status status = fill(b, proto, &v.data, json->string);
    if (status == TSR_OK)
        onnx_set_tensor(b->writer, node, json->string, proto);
    tensor_free(&v.data);
    return status;
}

/* ---- numbers and texts ----------------------------------------------------------------------- */

/* The kind that the table of operators gives it, if it is there. */
static bool is_of_kind(const char *op, const char *name, tsr_attr_kind kind) {
    const tsr_op found = tsr_op_find(op);
    int count = 0;
    const tsr_attr_info *attrs = found == TSR_OP_COUNT ? NULL : tsr_op_attrs(found, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(attrs[i].name, name) == 0)
            return attrs[i].kind == kind;
    return false;
}

static tsr_status set_list(const model_builder *b, Tsr__NodeProto *node, const char *op,
                           const char *name, const cJSON *list, bool floats) {
    const size_t count = (size_t)cJSON_GetArraySize(list);
    float *numbers = onnx_alloc(b->writer, count + 1, sizeof *numbers);
    int64_t *integers = onnx_alloc(b->writer, count + 1, sizeof *integers);
    const char **texts = onnx_alloc(b->writer, count + 1, sizeof *texts);
    if (!numbers || !integers || !texts)
        return out_of_memory(b->c);
    size_t text_count = 0, integer_count = 0, at = 0;
    const cJSON *element;
    cJSON_ArrayForEach(element, list) {
        if (!cJSON_IsNumber(element) && !cJSON_IsString(element))
            return case_fail(b->c, name, "element %zu is no number and no text", at);
        texts[at] = element->valuestring;
        numbers[at] = (float)element->valuedouble;
        text_count += cJSON_IsString(element);
        integer_count += case_int(element, INT64_MIN, INT64_MAX, &integers[at]);
        at++;
    }
    if (text_count && text_count < count)
        return case_fail(b->c, name, "numbers and texts in one list");
    if (text_count || is_of_kind(op, name, TSR_ATTR_STRINGS))
        onnx_set_strings(b->writer, node, name, count, texts);
    else if (floats || integer_count < count || is_of_kind(op, name, TSR_ATTR_FLOATS))
        onnx_set_floats(b->writer, node, name, count, numbers);
    else
        onnx_set_ints(b->writer, node, name, count, integers);
    return TSR_OK;
}

static tsr_status set_number(const model_builder *b, Tsr__NodeProto *node, const char *op,
                             const char *name, const cJSON *json) {
    int64_t integer;
    if (!isfinite(json->valuedouble))
        return case_fail(b->c, name, "too large a number");
    if (case_int(json, INT64_MIN, INT64_MAX, &integer) && !is_of_kind(op, name, TSR_ATTR_FLOAT))
        onnx_set_int(b->writer, node, name, integer);
    else
        onnx_set_float(b->writer, node, name, (float)json->valuedouble);
    return TSR_OK;
}

/* ---- nodes and graphs ------------------------------------------------------------------------ */

static tsr_status set_attributes(const model_builder *b, Tsr__NodeProto *node, const char *op,
                                 const cJSON *attributes);

/* "a,,b": names of a list of texts, "" being absent. */
static tsr_status join_names(const model_builder *b, const char *where, const cJSON *list,
                             char **joined) {
    const cJSON *name;
    size_t length = 1, used = 0;
    if (!cJSON_IsArray(list))
        return case_fail(b->c, where, "not a list of names");
    cJSON_ArrayForEach(name, list) {
        if (!cJSON_IsString(name) || (*name->valuestring && !case_is_name(name->valuestring)))
            return case_fail(b->c, where, "not a list of names");
        length += strlen(name->valuestring) + 1;
    }
    *joined = onnx_alloc(b->writer, length, 1);
    if (!*joined)
        return out_of_memory(b->c);
    cJSON_ArrayForEach(name, list) {
        const char *comma = name == list->child ? "" : ",";
        used += (size_t)snprintf(*joined + used, length - used, "%s%s", comma, name->valuestring);
    }
    return TSR_OK;
}

static tsr_status add_node(const model_builder *b, const cJSON *json, int index) {
    static const char *const keys[] = {"operator", "inputs", "outputs", "attributes", NULL};
    char name[16], *inputs, *outputs;
    const cJSON *op = member(json, "operator");
    snprintf(name, sizeof name, "node%d", index);
    if (!cJSON_IsString(op) || !case_is_name(op->valuestring))
        return case_fail(b->c, name, "\"operator\" is not the name of an operator");
    TRY(case_check_keys(b->c, name, json, keys));
    TRY(join_names(b, "inputs", member(json, "inputs"), &inputs));
    TRY(join_names(b, "outputs", member(json, "outputs"), &outputs));
    Tsr__NodeProto *node = onnx_add_node(b->writer, op->valuestring, name, inputs, outputs);
    return node ? set_attributes(b, node, op->valuestring, member(json, "attributes"))
                : out_of_memory(b->c);
}

static tsr_status add_body_inputs(const model_builder *b, const cJSON *list) {
    const cJSON *json;
    cJSON_ArrayForEach(json, list) {
        case_variable v;
        TRY(case_variable_read(b->c, "inputs of a graph", json, &v));
        tsr_status status = v.is_absent || !v.name
                                ? case_fail(b->c, "inputs of a graph", "one has no \"name\"")
                                : add_input(b, &v);
        tensor_free(&v.data);
        TRY(status);
    }
    return TSR_OK;
}

static tsr_status add_nodes(const model_builder *b, const cJSON *nodes) {
    const cJSON *item;
    int count = 0;
    if (cJSON_GetArraySize(nodes) > MOST_NODES)
        return case_fail(b->c, "nodes", "more than %d", MOST_NODES);
    cJSON_ArrayForEach(item, nodes) TRY(add_node(b, item, count++));
    return TSR_OK;
}

static tsr_status fill_body(const model_builder *b, const cJSON *json) {
    static const char *const keys[] = {"inputs", "nodes", "outputs", NULL};
    const cJSON *item, *outputs = member(json, "outputs");
    char *names;
    TRY(case_check_keys(b->c, "a graph", json, keys));
    TRY(add_body_inputs(b, member(json, "inputs")));
    TRY(add_nodes(b, member(json, "nodes")));
    TRY(join_names(b, "outputs of a graph", outputs, &names));
    cJSON_ArrayForEach(item, outputs)
        onnx_add_output(b->writer, item->valuestring, TSR_DTYPE_F32, -1, NULL);
    return TSR_OK;
}

static tsr_status set_graph(const model_builder *b, Tsr__NodeProto *node, const cJSON *json) {
    if (b->depth == MOST_DEPTH)
        return case_fail(b->c, json->string, "more than %d graphs in each other", MOST_DEPTH);
    const model_builder body = {b->c, onnx_writer_create(b->c->opset), b->depth + 1};
    if (!body.writer)
        return out_of_memory(b->c);
    tsr_status status = fill_body(&body, member(json, "graph"));
    if (status == TSR_OK)
        onnx_set_graph(b->writer, node, json->string, body.writer);
    onnx_writer_destroy(body.writer);
    return status;
}

/* An attribute whose kind the value does not tell: {"float": 1}, {"floats": [1, 2]}, {"tensor":
 * variable}, {"graph": ...}. */
static tsr_status set_object(const model_builder *b, Tsr__NodeProto *node, const char *op,
                             const cJSON *json) {
    static const char *const keys[] = {"float", "floats", "tensor", "graph", NULL};
    const cJSON *number = member(json, "float"), *numbers = member(json, "floats");
    TRY(case_check_keys(b->c, json->string, json, keys));
    if (cJSON_GetArraySize(json) != 1)
        return case_fail(b->c, json->string, "not one of float, floats, tensor and graph");
    if (cJSON_IsNumber(number))
        return onnx_set_float(b->writer, node, json->string, (float)number->valuedouble)
                   ? TSR_OK
                   : out_of_memory(b->c);
    if (cJSON_IsArray(numbers))
        return set_list(b, node, op, json->string, numbers, true);
    if (cJSON_IsObject(member(json, "tensor")))
        return set_tensor(b, node, json);
    if (cJSON_IsObject(member(json, "graph")))
        return set_graph(b, node, json);
    return case_fail(b->c, json->string, "its value is of another kind");
}

static tsr_status set_attributes(const model_builder *b, Tsr__NodeProto *node, const char *op,
                                 const cJSON *attributes) {
    const cJSON *json;
    if (attributes && !cJSON_IsObject(attributes))
        return case_fail(b->c, "attributes", "not an object");
    cJSON_ArrayForEach(json, attributes) {
        if (cJSON_IsString(json))
            onnx_set_string(b->writer, node, json->string, json->valuestring);
        else if (cJSON_IsNumber(json))
            TRY(set_number(b, node, op, json->string, json));
        else if (cJSON_IsArray(json))
            TRY(set_list(b, node, op, json->string, json, false));
        else if (cJSON_IsObject(json))
            TRY(set_object(b, node, op, json));
        else
            return case_fail(b->c, json->string, "not a number, text, list or object");
    }
    return TSR_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

static char *list_names(onnx_writer *writer, const case_variable *variables, int count) {
    size_t length = 1;
    for (int i = 0; i < count; i++)
        length += strlen(variables[i].name) + 1;
    char *joined = onnx_alloc(writer, length, 1);
    for (int i = 0, at = 0; joined && i < count; i++)
        at += snprintf(joined + at, length - (size_t)at, "%s%s", i ? "," : "", variables[i].name);
    return joined;
}

static tsr_status build(const model_builder *b) {
    const op_case *c = b->c;
    for (int i = 0; i < c->input_count; i++)
        TRY(add_input(b, &c->inputs[i]));
    TRY(add_nodes(b, c->nodes));
    char *inputs = list_names(b->writer, c->inputs, c->input_count),
         *outputs = list_names(b->writer, c->outputs, c->output_count);
    if (!inputs || !outputs)
        return out_of_memory(c);
    Tsr__NodeProto *node = onnx_add_node(b->writer, c->op, "node", inputs, outputs);
    TRY(set_attributes(b, node, c->op, c->attributes));
    for (int i = 0; i < c->output_count; i++)
        if (!c->outputs[i].is_absent)
            onnx_add_output(b->writer, c->outputs[i].name, c->outputs[i].data.dtype, -1, NULL);
    return TSR_OK;
}

tsr_status case_model(const op_case *c, uint8_t **bytes, size_t *size) {
    const model_builder b = {.c = c, .writer = onnx_writer_create(c->opset)};
    *bytes = NULL;
    tsr_status status = b.writer ? build(&b) : out_of_memory(c);
    if (status == TSR_OK) {
        *bytes = onnx_write_memory(b.writer, size);
        status = *bytes ? TSR_OK : out_of_memory(c);
    }
    onnx_writer_destroy(b.writer);
    return status;
}
