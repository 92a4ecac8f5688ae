/* Nodes in the form of an older opset than the graph's, which is that of TSR_OPSET_MAX: the reverse
 * of upgrade.c. Operators and attributes that are not listed are as old as TSR_OPSET_WRITTEN_MIN.
 */
#include "onnx/writer.h"

#include "base/divide.h"
#include "base/dtype.h"
#include "base/error.h"
#include "graph/infer.h"

#include <string.h>

/* The first opset that has the operator in a form that can be written; 0: all have it. */
static const int since[TSR_OP_COUNT] = {
#define TSR_SINCE(Name, opset) [TSR_OP_##Name] = (opset),
#include "graph/ops.def"
};

/* Attributes that older opsets lack: there, all nodes had the default. */
static const struct {
    tsr_op op;
    const char *attr;
    int opset;
    int64_t usual; /* of lists of integers: of each */
    const char *usual_text;
} attr_since[] = {
    {TSR_OP_BatchNormalization, "training_mode", 14, 0, NULL},
    {TSR_OP_Reshape, "allowzero", 14, 0, NULL},
    {TSR_OP_LSTM, "layout", 14, 0, NULL},
    {TSR_OP_GRU, "layout", 14, 0, NULL},
    {TSR_OP_RNN, "layout", 14, 0, NULL},
    {TSR_OP_Shape, "start", 15, 0, NULL},
    {TSR_OP_Shape, "end", 15, INT64_MAX, NULL},
    {TSR_OP_RoiAlign, "coordinate_transformation_mode", 16, 0, "output_half_pixel"},
    {TSR_OP_ScatterElements, "reduction", 16, 0, "none"},
    {TSR_OP_ScatterND, "reduction", 16, 0, "none"},
    {TSR_OP_LpPool, "ceil_mode", 18, 0, NULL},
    {TSR_OP_LpPool, "dilations", 18, 1, NULL},
    {TSR_OP_Resize, "antialias", 18, 0, NULL},
    {TSR_OP_Resize, "axes", 18, INT64_MAX, NULL},
    {TSR_OP_Resize, "keep_aspect_ratio_policy", 18, 0, "stretch"},
    {TSR_OP_AveragePool, "dilations", 19, 1, NULL},
    {TSR_OP_Cast, "saturate", 19, 1, NULL},
    {TSR_OP_CastLike, "saturate", 19, 1, NULL},
    {TSR_OP_QuantizeLinear, "saturate", 19, 1, NULL},
    {TSR_OP_QuantizeLinear, "block_size", 21, 0, NULL},
    {TSR_OP_QuantizeLinear, "output_dtype", 21, 0, NULL},
    {TSR_OP_DequantizeLinear, "block_size", 21, 0, NULL},
    {TSR_OP_DequantizeLinear, "output_dtype", 23, 0, NULL},
    {TSR_OP_QuantizeLinear, "precision", 23, 0, NULL},
};

static tsr_status fail_opset(const tsr_writer *w, const char *what, int opset) {
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "opset %d lacks %s; opset %d has it", w->opset, what,
                    opset);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool is_usual(const tsr_attr *attr, int64_t usual, const char *text) {
    if (attr->kind == TSR_ATTR_STRING)
        return text && strcmp(attr->s, text) == 0;
    bool same = attr->kind != TSR_ATTR_INT || attr->i == usual;
    for (int i = 0; attr->kind == TSR_ATTR_INTS && i < attr->count; i++)
        same &= attr->ints[i] == usual;
    return same;
}

static tsr_status check_attr(const tsr_writer *w, const tsr_node *node, const tsr_attr *attr,
                             bool *written) {
    *written = true;
    for (size_t i = 0; i < sizeof attr_since / sizeof *attr_since; i++) {
        if (attr_since[i].op != node->op || strcmp(attr_since[i].attr, attr->name) != 0 ||
            w->opset >= attr_since[i].opset)
            continue;
        *written = false;
        if (!is_usual(attr, attr_since[i].usual, attr_since[i].usual_text))
            return fail_opset(w, attr->name, attr_since[i].opset);
    }
    return TSR_OK;
}

static tsr_status set_strings(tsr_writer *w, const tsr_attr *attr, Tsr__AttributeProto *proto) {
    proto->n_strings = (size_t)attr->count;
    proto->strings = TSR_NEW(w->arena, attr->count, ProtobufCBinaryData);
    if (!proto->strings)
        return tsr_write_out_of_memory(w);
    for (int i = 0; i < attr->count; i++)
        proto->strings[i] =
            (ProtobufCBinaryData){strlen(attr->strings[i]), (uint8_t *)attr->strings[i]};
    return TSR_OK;
}

static tsr_status set_content(tsr_writer *w, const tsr_node *node, const tsr_attr *attr,
                              Tsr__AttributeProto *proto) {
    static const Tsr__AttributeProto__AttributeType types[] = {
        [TSR_ATTR_INT] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
        [TSR_ATTR_FLOAT] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
        [TSR_ATTR_STRING] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
        [TSR_ATTR_INTS] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
        [TSR_ATTR_FLOATS] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS,
        [TSR_ATTR_STRINGS] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS,
        [TSR_ATTR_GRAPH] = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH,
    };
    proto->has_type = true;
    proto->type = types[attr->kind];
    proto->has_i = attr->kind == TSR_ATTR_INT;
    proto->i = attr->i;
    proto->has_f = attr->kind == TSR_ATTR_FLOAT;
    proto->f = attr->f;
    switch (attr->kind) {
    case TSR_ATTR_STRING:
        proto->has_s = true;
        proto->s = (ProtobufCBinaryData){strlen(attr->s), (uint8_t *)attr->s};
        break;
    case TSR_ATTR_INTS:
        proto->n_ints = (size_t)attr->count;
        proto->ints = (int64_t *)attr->ints;
        break;
    case TSR_ATTR_FLOATS:
        proto->n_floats = (size_t)attr->count;
        proto->floats = (float *)attr->floats;
        break;
    case TSR_ATTR_STRINGS:
        return set_strings(w, attr, proto);
    case TSR_ATTR_GRAPH:
        proto->has_g = true;
        return tsr_write_body(w, node, attr->body, &proto->g);
    default:
        break;
    }
    return TSR_OK;
}

/* A new attribute, which has no content; NULL with a message. */
static Tsr__AttributeProto *add_attr(tsr_writer *w, Tsr__NodeProto *made, const char *name) {
    size_t count = made->n_attribute;
    Tsr__AttributeProto *attr = TSR_NEW(w->arena, 1, Tsr__AttributeProto);
    Tsr__AttributeProto **list = TSR_NEW(w->arena, count + 1, Tsr__AttributeProto *);
    if (!attr || !list) {
        tsr_write_out_of_memory(w);
        return NULL;
    }
    tsr__attribute_proto__init(attr);
    attr->name = (char *)name;
    if (count)
        memcpy(list, made->attribute, count * sizeof *list);
    list[made->n_attribute++] = attr;
    made->attribute = list;
    return attr;
}

static tsr_status write_attr(tsr_writer *w, const tsr_node *node, const tsr_attr *attr,
                             Tsr__NodeProto *made) {
    Tsr__AttributeProto *proto = add_attr(w, made, attr->name);
    return proto ? set_content(w, node, attr, proto) : TSR_ERROR_OUT_OF_MEMORY;
}

static tsr_status write_attrs(tsr_writer *w, const tsr_node *node, Tsr__NodeProto *made) {
    for (int i = 0; i < node->attr_count; i++) {
        bool written;
        TSR_TRY(check_attr(w, node, &node->attrs[i], &written));
        if (written)
            TSR_TRY(write_attr(w, node, &node->attrs[i], made));
    }
    return TSR_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Without what bodies read of the values around them, and what is absent at the end. */
static int written_inputs(const tsr_node *node) {
    int count = node->input_count;
    for (int i = 0; i < node->attr_count; i++)
        if (node->attrs[i].kind == TSR_ATTR_GRAPH)
            count = node->op == TSR_OP_If ? 1 : node->attrs[i].body->input_count;
    while (count && node->inputs[count - 1] == TSR_NONE)
        count--;
    return count;
}

static tsr_status write_values(tsr_writer *w, const int *values, size_t count, char **names) {
    for (size_t i = 0; i < count; i++)
        if (!(names[i] = tsr_write_value(w, values[i])))
            return TSR_ERROR_OUT_OF_MEMORY;
    return TSR_OK;
}

/* Inputs, outputs and attributes as the node has them. */
static tsr_status write_as_it_is(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    Tsr__NodeProto *made = tsr_write_new_node(w, list, node, tsr_node_op_name(node),
                                              written_inputs(node), node->output_count);
    if (!made)
        return TSR_ERROR_OUT_OF_MEMORY;
    const tsr_domain_id domain = tsr_op_domain(node->op);
    if (domain != TSR_DOMAIN_ONNX)
        made->domain = (char *)tsr_domain_name(domain);
    w->writes_domain[domain] = true;
    TSR_TRY(write_values(w, node->inputs, made->n_input, made->input));
    TSR_TRY(write_values(w, node->outputs, made->n_output, made->output));
    return write_attrs(w, node, made);
}

/* A copy with room for another attribute. */
static tsr_status copy_node(tsr_writer *w, const tsr_node *node, tsr_node *copy) {
    *copy = *node;
    copy->attrs = TSR_NEW(w->arena, node->attr_count + 1, tsr_attr);
    copy->inputs = TSR_NEW(w->arena, node->input_count, int);
    if (!copy->attrs || !copy->inputs)
        return tsr_write_out_of_memory(w);
    if (node->attr_count)
        memcpy(copy->attrs, node->attrs, (size_t)node->attr_count * sizeof *copy->attrs);
    if (node->input_count)
        memcpy(copy->inputs, node->inputs, (size_t)node->input_count * sizeof *copy->inputs);
    return TSR_OK;
}

static void remove_attr(tsr_node *copy, const char *name) {
    int kept = 0;
    for (int i = 0; i < copy->attr_count; i++)
        if (strcmp(copy->attrs[i].name, name) != 0)
            copy->attrs[kept++] = copy->attrs[i];
    copy->attr_count = kept;
}

static void set_attr(tsr_node *copy, tsr_attr attr) {
    remove_attr(copy, attr.name);
    copy->attrs[copy->attr_count++] = attr;
}

/* ---- forms that ONNX does not have ----------------------------------------------------------- */

/* [rows, elements] and back: the softmax of opsets before 13. */
static tsr_status write_coerced(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    static const char *const ops[] = {"Flatten", NULL, "Shape", "Reshape"};
    const tsr_attr axis = {.name = "axis",
                           .kind = TSR_ATTR_INT,
                           .i = tsr_attr_int(node, "axis", 1)},
                   last = {.name = "axis", .kind = TSR_ATTR_INT, .i = 1};
    char *x = tsr_write_value(w, node->inputs[0]), *y = tsr_write_value(w, node->outputs[0]);
    char *flat = tsr_write_new_name(w, node, "flat"), *rows = tsr_write_new_name(w, node, "rows"),
         *shape = tsr_write_new_name(w, node, "shape");
    Tsr__NodeProto *made[4];
    if (!x || !y || !flat || !rows || !shape)
        return TSR_ERROR_OUT_OF_MEMORY;
    char *const inputs[] = {x, flat, x, rows}, *const outputs[] = {flat, rows, shape, y};
    for (int i = 0; i < 4; i++) {
        made[i] = tsr_write_new_node(w, list, node, ops[i] ? ops[i] : tsr_node_op_name(node),
                                     i == 3 ? 2 : 1, 1);
        if (!made[i])
            return TSR_ERROR_OUT_OF_MEMORY;
        made[i]->input[0] = inputs[i];
        made[i]->output[0] = outputs[i];
    }
    made[3]->input[1] = shape;
    TSR_TRY(write_attr(w, node, &axis, made[0]));
    return write_attr(w, node, &last, made[1]);
}

static tsr_status write_softmax(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    const tsr_shape *shape = &w->graph->values[node->inputs[0]].shape;
    tsr_node copy;
    int axis = 0;
    if (!tsr_attr_int(node, "coerce_2d", 0))
        return write_as_it_is(w, list, node);
    if (shape->rank < 0)
        return write_coerced(w, list, node);
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 1), shape->rank, &axis));
    if (axis != shape->rank - 1)
        return write_coerced(w, list, node);
    TSR_TRY(copy_node(w, node, &copy));
    remove_attr(&copy, "coerce_2d");
    return write_as_it_is(w, list, &copy);
}

static tsr_status write_gelu(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    tsr_node copy;
    bool by_tanh = tsr_attr_float(node, "tanh", 0) != 0;
    TSR_TRY(copy_node(w, node, &copy));
    remove_attr(&copy, "tanh");
    if (by_tanh)
        set_attr(&copy, (tsr_attr){.name = "approximate", .kind = TSR_ATTR_STRING, .s = "tanh"});
    return write_as_it_is(w, list, &copy);
}

/* What ConstantOfShape fills with was an attribute. */
static tsr_status write_constant_of_shape(tsr_writer *w, tsr_onnx_nodes *list,
                                          const tsr_node *node) {
    const tsr_value *value = tsr_node_in(w->graph, node, 1);
    tsr_node copy = *node;
    copy.input_count = 1;
    TSR_TRY(write_as_it_is(w, list, &copy));
    if (!value)
        return TSR_OK;
    Tsr__AttributeProto *attr = add_attr(w, list->nodes[list->count - 1], "value");
    if (!attr)
        return TSR_ERROR_OUT_OF_MEMORY;
    attr->has_type = true;
    attr->type = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    attr->t = tsr_write_tensor(w, "", value->dtype, &value->shape, value->data);
    return attr->t ? TSR_OK : TSR_ERROR_OUT_OF_MEMORY;
}

/* A list with an element for each group as one with an element for each channel. */
static tsr_status repeat_for_channels(tsr_writer *w, const tsr_node *node, int input,
                                      int64_t channels, char **name) {
    const tsr_value *groups = tsr_node_in(w->graph, node, input);
    int64_t count = groups->data ? tsr_shape_count(&groups->shape) : 0;
    if (count < 1 || channels < 1 || channels % count != 0 || !tsr_dtype_is_float(groups->dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "scale and bias by group are not constants, as opset %d needs", w->opset);
    float *elements = TSR_NEW(w->arena, channels, float);
    *name = tsr_write_new_name(w, node, "channels");
    if (!elements || !*name)
        return tsr_write_out_of_memory(w);
    for (int64_t c = 0; c < channels; c++)
        elements[c] = ((const float *)groups->data)[c / (channels / count)];
    return tsr_write_constant(
        w, tsr_write_tensor(w, *name, groups->dtype, &(tsr_shape){1, {channels}}, elements));
}

static tsr_status write_group_norm(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    const tsr_shape *shape = &w->graph->values[node->inputs[0]].shape;
    bool by_group = tsr_attr_int(node, "by_group", 0) != 0;
    tsr_node copy;
    if (!by_group && w->opset < 21)
        return fail_opset(w, "scale and bias by channel", 21);
    TSR_TRY(copy_node(w, node, &copy));
    remove_attr(&copy, "by_group");
    TSR_TRY(write_as_it_is(w, list, &copy));
    for (int i = 1; by_group && w->opset >= 21 && i < 3; i++)
        TSR_TRY(repeat_for_channels(w, node, i, shape->rank > 1 ? shape->dim[1] : -1,
                                    &list->nodes[list->count - 1]->input[i]));
    return TSR_OK;
}

/* ---- forms of older opsets ------------------------------------------------------------------- */

/* Axes were an attribute. */
static tsr_status write_reduction(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    const tsr_value *axes = tsr_node_in(w->graph, node, 1);
    tsr_node copy;
    if (w->opset >= 18 || node->op == TSR_OP_ReduceSum)
        return write_as_it_is(w, list, node);
    if (axes && !axes->data)
        return fail_opset(w, "axes that are not constant", 18);
    int64_t count = axes ? tsr_shape_count(&axes->shape) : 0;
    if (count == 0 && tsr_attr_int(node, "noop_with_empty_axes", 0))
        return fail_opset(w, "noop_with_empty_axes", 18);
    TSR_TRY(copy_node(w, node, &copy));
    remove_attr(&copy, "noop_with_empty_axes");
    copy.input_count = 1;
    if (count)
        set_attr(&copy, (tsr_attr){.name = "axes",
                                   .kind = TSR_ATTR_INTS,
                                   .count = (int)count,
                                   .ints = axes->data});
    return write_as_it_is(w, list, &copy);
}

/* Without num_outputs parts are equal. */
static tsr_status write_split(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    const tsr_shape *shape = &w->graph->values[node->inputs[0]].shape;
    tsr_node copy;
    int axis = 0;
    if (w->opset >= 18 || !tsr_node_attr(node, "num_outputs"))
        return write_as_it_is(w, list, node);
    if (shape->rank >= 0)
        TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis));
    if (shape->rank > 0 && shape->dim[axis] % node->output_count != 0)
        return fail_opset(w, "parts that are not equal", 18);
    TSR_TRY(copy_node(w, node, &copy));
    remove_attr(&copy, "num_outputs");
    return write_as_it_is(w, list, &copy);
}

static tsr_status write_grid_sample(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    const char *mode = tsr_attr_string(node, "mode", "linear");
    tsr_node copy;
    if (w->opset >= 20 || strcmp(mode, "nearest") == 0)
        return write_as_it_is(w, list, node);
    TSR_TRY(copy_node(w, node, &copy));
    set_attr(&copy, (tsr_attr){.name = "mode",
                               .kind = TSR_ATTR_STRING,
                               .s = strcmp(mode, "cubic") == 0 ? "bicubic" : "bilinear"});
    return write_as_it_is(w, list, &copy);
}

static tsr_status write_pad(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    if (w->opset < 18 && tsr_node_in(w->graph, node, 3))
        return fail_opset(w, "axes of Pad", 18);
    if (w->opset < 19 && strcmp(tsr_attr_string(node, "mode", ""), "wrap") == 0)
        return fail_opset(w, "the mode wrap", 19);
    return write_as_it_is(w, list, node);
}

/* Of integers opset 13 had those of 32 and 64 bits alone; Relu had none. */
static tsr_status write_arithmetic(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    tsr_dtype dtype = w->graph->values[node->inputs[0]].dtype;
    bool is_new = node->op == TSR_OP_Relu || tsr_dtype_size(dtype) < 4;
    return w->opset < 14 && !tsr_dtype_is_float(dtype) && is_new
               ? fail_opset(w, tsr_dtype_name(dtype), 14)
               : write_as_it_is(w, list, node);
}

static tsr_status write_roi_align(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    return w->opset < 16 && !tsr_node_attr(node, "coordinate_transformation_mode")
               ? fail_opset(w, "the mode half_pixel", 16)
               : write_as_it_is(w, list, node);
}

/* Lists with zeros that are sizes are newer than lists without. */
static tsr_status write_reshape(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    const tsr_value *sizes = tsr_node_in(w->graph, node, 1);
    bool has_zeros = !sizes->data;
    tsr_node copy;
    for (int64_t i = 0; !has_zeros && i < tsr_shape_count(&sizes->shape); i++)
        has_zeros = ((const int64_t *)sizes->data)[i] == 0;
    if (has_zeros)
        return write_as_it_is(w, list, node);
    TSR_TRY(copy_node(w, node, &copy));
    remove_attr(&copy, "allowzero");
    return write_as_it_is(w, list, &copy);
}

static tsr_status refuse(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    (void)w, (void)list;
    switch (node->op) {
    case TSR_OP_Custom:
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a custom operator is not part of ONNX");
    case TSR_OP_Scan:
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "the form with sequence lengths and batches, of "
                        "opset 8, is not part of opset %d",
                        TSR_OPSET_WRITTEN_MIN);
    default:
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "it is replaced by its nodes "
                                               "only where the shapes of all inputs are known");
    }
}

static tsr_status write_scan(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    return tsr_attr_int(node, "batched", 0) ? refuse(w, list, node) : write_as_it_is(w, list, node);
}

typedef tsr_status write_fn(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node);

static write_fn *const writers[TSR_OP_NAMES] = {
#define TSR_REDUCE(Name, stem, types) [TSR_OP_##Name] = write_reduction,
#include "graph/ops.def"
    [TSR_OP_Softmax] = write_softmax,
    [TSR_OP_LogSoftmax] = write_softmax,
    [TSR_OP_Hardmax] = write_softmax,
    [TSR_OP_Gelu] = write_gelu,
    [TSR_OP_ConstantOfShape] = write_constant_of_shape,
    [TSR_OP_GroupNormalization] = write_group_norm,
    [TSR_OP_Split] = write_split,
    [TSR_OP_GridSample] = write_grid_sample,
    [TSR_OP_Pad] = write_pad,
    [TSR_OP_Add] = write_arithmetic,
    [TSR_OP_Sub] = write_arithmetic,
    [TSR_OP_Mul] = write_arithmetic,
    [TSR_OP_Div] = write_arithmetic,
    [TSR_OP_Relu] = write_arithmetic,
    [TSR_OP_RoiAlign] = write_roi_align,
    [TSR_OP_Reshape] = write_reshape,
    [TSR_OP_Scan] = write_scan,
    [TSR_OP_Custom] = refuse,
    [TSR_OP_FunctionCall] = refuse,
#ifndef TSR_WITHOUT_GRADIENT
    [TSR_OP_Gradient] = refuse,
#endif
};

static int first_opset_of_all(const tsr_node *nodes, int count) {
    int opset = TSR_OPSET_WRITTEN_MIN;
    for (int n = 0; n < count; n++) {
        opset = (int)tsr_max(opset, since[nodes[n].op]);
        for (int i = 0; i < nodes[n].attr_count; i++) {
            const tsr_body *body = nodes[n].attrs[i].body;
            if (body)
                opset = (int)tsr_max(opset, first_opset_of_all(body->nodes, body->node_count));
        }
    }
    return opset;
}

int tsr_onnx_first_opset(const tsr_graph *graph) {
    return first_opset_of_all(graph->nodes, graph->node_count);
}

tsr_status tsr_write_node(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node) {
    if (w->opset < since[node->op])
        return fail_opset(w, "the operator", since[node->op]);
    return writers[node->op] ? writers[node->op](w, list, node) : write_as_it_is(w, list, node);
}
