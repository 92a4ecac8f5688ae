#include "onnx/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ATTRS = 32 };

static const char *kind_name(tsr_attr_kind kind) {
    static const char *const names[] = {
        [TSR_ATTR_INT] = "an integer",          [TSR_ATTR_FLOAT] = "a float",
        [TSR_ATTR_STRING] = "a string",         [TSR_ATTR_INTS] = "a list of integers",
        [TSR_ATTR_FLOATS] = "a list of floats", [TSR_ATTR_STRINGS] = "a list of strings",
        [TSR_ATTR_GRAPH] = "a graph",
    };
    return names[kind];
}

/* The operator's name in the newest opset. */
static tsr_status note_attr(tsr_reader *reader, const tsr_node *node, const char *name) {
    return tsr_onnx_note_lack(reader, TSR_LACKS_ATTRIBUTE, tsr_op_get_info(node->op)->name, name,
                              node->name);
}

/* A data type that the node yields: Cast's `to` and the like. */
static tsr_status check_type(tsr_reader *reader, const tsr_node *node, const tsr_attr *attr) {
    static const char *const names[] = {"to", "dtype", "output_datatype"};
    const char *refused = tsr_onnx_refused_type(attr->i);
    char text[64];
    for (size_t i = 0; refused && i < sizeof names / sizeof *names; i++)
        if (attr->kind == TSR_ATTR_INT && strcmp(attr->name, names[i]) == 0) {
            snprintf(text, sizeof text, "%s is %s", attr->name, refused);
            return tsr_onnx_note_lack(reader, TSR_LACKS_FORM, tsr_op_get_info(node->op)->name, text,
                                      node->name);
        }
    return TSR_OK;
}

static bool is_float_type(int64_t number) {
    tsr_dtype dtype;
    return tsr_dtype_from_onnx(number, &dtype) && tsr_dtype_is_float(dtype);
}

static tsr_status check_value(tsr_reader *reader, const tsr_node *node, tsr_attr_values values,
                              const tsr_attr *attr) {
    if (values == TSR_ATTR_VALUES_FLAG && attr->i != 0 && attr->i != 1)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s is %" PRId64 ", neither 0 nor 1", attr->name,
                        attr->i);
    if (values == TSR_ATTR_VALUES_FLOAT_TYPE && !is_float_type(attr->i))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s is %" PRId64 ", no floating type", attr->name,
                        attr->i);
    if (values == TSR_ATTR_VALUES_NOT_NEGATIVE && !(attr->f >= 0 && isfinite(attr->f)))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s is negative or not finite", attr->name);
    return check_type(reader, node, attr);
}

static tsr_status check_attr(tsr_reader *reader, const tsr_node *node, const tsr_attr_info *known,
                             int count, const tsr_attr *attr) {
    for (int i = 0; i < count; i++) {
        if (strcmp(known[i].name, attr->name) != 0 || known[i].values == TSR_ATTR_VALUES_INTERNAL)
            continue;
        if (known[i].kind == attr->kind)
            return check_value(reader, node, known[i].values, attr);
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" is %s, not %s", attr->name,
                        kind_name(attr->kind), kind_name(known[i].kind));
    }
    return note_attr(reader, node, attr->name);
}

tsr_status tsr_onnx_check_attrs(tsr_reader *reader, const tsr_node *node) {
    int count;
    const tsr_attr_info *known = tsr_op_attrs(node->op, &count);
    for (int i = 0; i < node->attr_count; i++)
        TSR_TRY(check_attr(reader, node, known, count, &node->attrs[i]));
    for (int i = 0; i < count; i++)
        if (known[i].values == TSR_ATTR_VALUES_REQUIRED && !tsr_node_attr(node, known[i].name))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" is missing", known[i].name);
    return TSR_OK;
}

static tsr_status check_number(const tsr_attr *attr) {
    if (attr->kind != TSR_ATTR_FLOAT && attr->kind != TSR_ATTR_INT)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" is %s, not a number", attr->name,
                        kind_name(attr->kind));
    return TSR_OK;
}

tsr_status tsr_onnx_complete_attrs(tsr_graph *graph, tsr_node *node) {
    const tsr_custom_op *op = node->custom;
    tsr_attr *attrs = TSR_NEW(graph->arena, node->attr_count + op->attr_count, tsr_attr);
    if (!attrs)
        return tsr_onnx_out_of_memory();
    if (node->attr_count)
        memcpy(attrs, node->attrs, (size_t)node->attr_count * sizeof *attrs);
    node->attrs = attrs;
    for (int i = 0; i < op->attr_count; i++) {
        const tsr_attr *given = tsr_node_attr(node, op->attrs[i].name);
        if (given)
            TSR_TRY(check_number(given));
        else
            attrs[node->attr_count++] = (tsr_attr){
                .name = op->attrs[i].name, .kind = TSR_ATTR_FLOAT, .f = op->attrs[i].value};
    }
    return TSR_OK;
}

/* ---- reading ---- */

/* The type of an attribute; files of the first IR versions do not state it, so the field that is
 * set tells. */
static int attr_type(const Tsr__AttributeProto *proto) {
    if (proto->has_type && proto->type != TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
        return (int)proto->type;
    return proto->has_i       ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
           : proto->has_f     ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
           : proto->has_s     ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
           : proto->t         ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR
           : proto->has_g     ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH
           : proto->n_ints    ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
           : proto->n_floats  ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
           : proto->n_strings ? TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS
                              : TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
}

/* A copy of count elements in the graph's arena. */
static tsr_status copy_list(tsr_graph *graph, const void *source, size_t count, size_t size,
                            tsr_attr *attr, const void **copy) {
    if (count > INT32_MAX)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" has %zu elements", attr->name,
                        count);
    void *elements = tsr_arena_alloc(graph->arena, count, size);
    if (!elements)
        return tsr_onnx_out_of_memory();
    if (count)
        memcpy(elements, source, count * size);
    attr->count = (int)count;
    *copy = elements;
    return TSR_OK;
}

static tsr_status copy_string(tsr_graph *graph, const ProtobufCBinaryData *source,
                              const tsr_attr *attr, const char **copy) {
    if (source->len && memchr(source->data, 0, source->len))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" holds a NUL character",
                        attr->name);
    *copy =
        tsr_arena_strndup(graph->arena, source->len ? (const char *)source->data : "", source->len);
    return *copy ? TSR_OK : tsr_onnx_out_of_memory();
}

static tsr_status copy_strings(tsr_graph *graph, const Tsr__AttributeProto *proto, tsr_attr *attr) {
    if (proto->n_strings > INT32_MAX)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" has %zu elements", attr->name,
                        proto->n_strings);
    const char **strings = TSR_NEW(graph->arena, proto->n_strings, const char *);
    if (!strings)
        return tsr_onnx_out_of_memory();
    attr->strings = strings;
    for (; attr->count < (int)proto->n_strings; attr->count++)
        TSR_TRY(copy_string(graph, &proto->strings[attr->count], attr, &strings[attr->count]));
    return TSR_OK;
}

static bool takes_graph(tsr_op op, const char *name) {
    int count;
    const tsr_attr_info *known = tsr_op_attrs(op, &count);
    for (int i = 0; i < count; i++)
        if (known[i].kind == TSR_ATTR_GRAPH && strcmp(known[i].name, name) == 0)
            return true;
    return false;
}

/* Can read_attr() read it? Not tensors: only Constant has them, and it reads them itself. */
static bool is_supported(const Tsr__AttributeProto *proto, const tsr_node *node, const char *name) {
    switch (attr_type(proto)) {
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED: /* which is invalid */
        return true;
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH:
        return takes_graph(node->op, name);
    default:
        return false;
    }
}

/* attr->name is set. */
static tsr_status read_attr(tsr_reader *reader, const Tsr__AttributeProto *proto,
                            const tsr_node *node, tsr_attr *attr) {
    tsr_graph *graph = reader->graph;
    const void *list = NULL;
    switch (attr_type(proto)) {
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        attr->kind = TSR_ATTR_INT;
        attr->i = proto->i;
        return TSR_OK;
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        attr->kind = TSR_ATTR_FLOAT;
        attr->f = proto->f;
        return TSR_OK;
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        attr->kind = TSR_ATTR_STRING;
        return copy_string(graph, &proto->s, attr, &attr->s);
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        attr->kind = TSR_ATTR_INTS;
        TSR_TRY(copy_list(graph, proto->ints, proto->n_ints, sizeof(int64_t), attr, &list));
        attr->ints = list;
        return TSR_OK;
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        attr->kind = TSR_ATTR_FLOATS;
        TSR_TRY(copy_list(graph, proto->floats, proto->n_floats, sizeof(float), attr, &list));
        attr->floats = list;
        return TSR_OK;
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
        attr->kind = TSR_ATTR_STRINGS;
        return copy_strings(graph, proto, attr);
    case TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH:
        attr->kind = TSR_ATTR_GRAPH;
        return tsr_fail_context(tsr_onnx_read_body(reader, proto, node->name, &attr->body),
                                "attribute \"%s\"", attr->name);
    default:
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" has no type", attr->name);
    }
}

/* The element of ConstantOfShape, a tensor, as its input 1. */
static tsr_status read_fill(tsr_reader *reader, const Tsr__TensorProto *tensor, tsr_node *node) {
    tsr_arena *arena = reader->graph->arena;
    const char *name = tsr_arena_printf(arena, "%s.value", node->name);
    for (int i = 2; name && tsr_graph_find_value(reader->graph, name) != TSR_NONE; i++)
        name = tsr_arena_printf(arena, "%s.value%d", node->name, i);
    int *inputs = TSR_NEW(arena, 2, int);
    if (!name || !inputs)
        return tsr_onnx_out_of_memory();
    if (node->input_count != 1)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d inputs instead of 1", node->input_count);
    inputs[0] = node->inputs[0];
    TSR_TRY(tsr_onnx_add_tensor(reader, tensor, name, &inputs[1]));
    node->inputs = inputs;
    node->input_count = 2;
    return TSR_OK;
}

tsr_status tsr_onnx_read_attrs(tsr_reader *reader, const Tsr__NodeProto *proto, tsr_node *node) {
    tsr_arena *arena = reader->graph->arena;
    if (proto->n_attribute > MAX_ATTRS)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%zu attributes are too many", proto->n_attribute);
    node->attrs = TSR_NEW(arena, proto->n_attribute, tsr_attr);
    if (!node->attrs)
        return tsr_onnx_out_of_memory();
    for (size_t i = 0; i < proto->n_attribute; i++) {
        const Tsr__AttributeProto *source = proto->attribute[i];
        const char *name = source->name ? source->name : "";
        if (!*name)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute %zu has no name", i);
        if (tsr_node_attr(node, name))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" is given twice", name);
        if (source->ref_attr_name && *source->ref_attr_name &&
            !(reader->scope && reader->scope->is_repeated))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" refers to a function's",
                            name);
        source = tsr_onnx_attr_content(reader, source);
        if (!source) /* the default of the operator, then */
            continue;
        if (source != proto->attribute[i] &&
            attr_type(source) == TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)
            return tsr_fail(TSR_ERROR_UNSUPPORTED, "attribute \"%s\" is a graph of the call", name);
        if (source != proto->attribute[i])
            TSR_TRY(tsr_onnx_count_repeated(reader, tsr__attribute_proto__get_packed_size(source)));
        if (node->op == TSR_OP_ConstantOfShape && strcmp(name, "value") == 0 && source->t) {
            TSR_TRY(read_fill(reader, source->t, node));
            continue;
        }
        if (!is_supported(source, node, name)) {
            TSR_TRY(note_attr(reader, node, name));
            continue;
        }
        tsr_attr *attr = &node->attrs[node->attr_count];
        attr->name = tsr_arena_strndup(arena, name, strlen(name));
        if (!attr->name)
            return tsr_onnx_out_of_memory();
        TSR_TRY(read_attr(reader, source, node, attr));
        node->attr_count++;
    }
    return TSR_OK;
}

/* ---- Constant nodes ---- */

/* The attributes of Constant other than its tensor "value". */
static bool is_constant_form(const char *name, int type) {
    static const struct {
        const char *name;
        int type;
    } forms[] = {
        {"value_int", TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT},
        {"value_ints", TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS},
        {"value_float", TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT},
        {"value_floats", TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(name, forms[i].name) == 0 && type == forms[i].type)
            return true;
    return false;
}

static tsr_status add_attr_constant(tsr_graph *graph, const char *name, tsr_attr *attr,
                                    int *value) {
    bool list = attr->kind == TSR_ATTR_INTS || attr->kind == TSR_ATTR_FLOATS;
    bool integer = attr->kind == TSR_ATTR_INT || attr->kind == TSR_ATTR_INTS;
    tsr_shape shape = {.rank = list ? 1 : 0, .dim = {list ? attr->count : 0}};
    const void *data = attr->kind == TSR_ATTR_INTS     ? (const void *)attr->ints
                       : attr->kind == TSR_ATTR_FLOATS ? (const void *)attr->floats
                       : integer                       ? (const void *)&attr->i
                                                       : (const void *)&attr->f;
    *value =
        tsr_graph_add_constant(graph, name, integer ? TSR_DTYPE_I64 : TSR_DTYPE_F32, &shape, data);
    return *value == TSR_NONE ? tsr_onnx_out_of_memory() : TSR_OK;
}

tsr_status tsr_onnx_add_constant_node(tsr_reader *reader, const Tsr__NodeProto *proto,
                                      const char *name, int *value) {
    if (proto->n_attribute != 1)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%zu attributes instead of one",
                        proto->n_attribute);
    const Tsr__AttributeProto *source = proto->attribute[0],
                              *content = tsr_onnx_attr_content(reader, source);
    if (!content)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "a call has no attribute \"%s\"",
                        source->ref_attr_name);
    if (source->name && strcmp(source->name, "value") == 0 && content->t)
        return tsr_onnx_add_tensor(reader, content->t, name, value);
    if (source->name && *source->name && !is_constant_form(source->name, attr_type(content))) {
        TSR_TRY(tsr_onnx_note_lack(reader, TSR_LACKS_ATTRIBUTE, "Constant", source->name, name));
        return tsr_onnx_add_nothing(reader, name, value);
    }
    tsr_node node = {.op = TSR_OP_Identity};
    TSR_TRY(tsr_onnx_read_attrs(reader, proto, &node));
    return add_attr_constant(reader->graph, name, &node.attrs[0], value);
}
