/* Rewrites older forms of operators to those of TSR_OPSET_MAX. Operators and attributes that are
 * not listed have not changed. */
#include "onnx/reader.h"

#include <limits.h>
#include <string.h>

typedef struct rewrite rewrite;
typedef tsr_status rewrite_fn(tsr_graph *graph, tsr_node *node, const rewrite *rule);

struct rewrite {
    const char *type; /* operator in the file */
    int before;       /* first opset that has the new form */
    rewrite_fn *apply;
    const char *attr; /* attr_to_input: this attribute, of this kind, becomes this input */
    tsr_attr_kind kind;
    int input;
};

static rewrite_fn align_operand, align_slope, drop_attr, attr_to_input, upsample_to_resize,
    drop_empty_inputs, count_split_outputs, inference_batch_norm, coerce_softmax, rename_mode,
    choose_gelu, scale_groups, keep_whole_pixels, complete_loop, batch_scan, check_body;

enum { EVERY = INT_MAX }; /* opset */

/* In the order in which they are applied. */
static const rewrite rules[] = {
#define TSR_BINARY(Name, stem, kind) {#Name, 7, align_operand, NULL, 0, 0},
#include "graph/ops.def"
    {"PRelu", 7, align_slope, NULL, 0, 0},
    {"Gemm", 7, drop_attr, "broadcast", 0, 0},
    {"Dropout", 7, drop_attr, "is_test", 0, 0},
    {"BatchNormalization", 7, drop_attr, "is_test", 0, 0},
    {"Squeeze", 13, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"Unsqueeze", 13, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceSum", 13, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceMean", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceMax", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceMin", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceProd", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceL1", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceL2", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceSumSquare", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceLogSum", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"ReduceLogSumExp", 18, attr_to_input, "axes", TSR_ATTR_INTS, 1},
    {"Clip", 11, attr_to_input, "min", TSR_ATTR_FLOAT, 1},
    {"Clip", 11, attr_to_input, "max", TSR_ATTR_FLOAT, 2},
    {"Pad", 11, attr_to_input, "pads", TSR_ATTR_INTS, 1},
    {"Pad", 11, attr_to_input, "value", TSR_ATTR_FLOAT, 2},
    {"Slice", 10, attr_to_input, "starts", TSR_ATTR_INTS, 1},
    {"Slice", 10, attr_to_input, "ends", TSR_ATTR_INTS, 2},
    {"Slice", 10, attr_to_input, "axes", TSR_ATTR_INTS, 3},
    {"Split", 13, attr_to_input, "split", TSR_ATTR_INTS, 1},
    {"Split", 18, count_split_outputs, NULL, 0, 0},
    {"Dropout", 12, attr_to_input, "ratio", TSR_ATTR_FLOAT, 1},
    {"BatchNormalization", 14, inference_batch_norm, NULL, 0, 0},
    {"Softmax", 13, coerce_softmax, NULL, 0, 0},
    {"LogSoftmax", 13, coerce_softmax, NULL, 0, 0},
    {"Hardmax", 13, coerce_softmax, NULL, 0, 0},
    {"Upsample", 9, attr_to_input, "scales", TSR_ATTR_FLOATS, 1},
    {"Upsample", 10, upsample_to_resize, NULL, 0, 0},
    {"Resize", 11, upsample_to_resize, NULL, 0, 0},
    {"TopK", 10, attr_to_input, "k", TSR_ATTR_INT, 1},
    {"GridSample", 20, rename_mode, NULL, 0, 0},
    {"GroupNormalization", 21, scale_groups, NULL, 0, 0},
    {"RoiAlign", 16, keep_whole_pixels, NULL, 0, 0},
    {"Scan", 9, batch_scan, NULL, 0, 0},
    {"Loop", EVERY, complete_loop, NULL, 0, 0},
    {"Loop", EVERY, check_body, "body", 0, 0},
    {"Scan", EVERY, check_body, "body", 0, 0},
    {"If", EVERY, check_body, "then_branch", 0, 0},
    {"If", EVERY, check_body, "else_branch", 0, 0},
    {"Gelu", EVERY, choose_gelu, NULL, 0, 0},
    {"Resize", EVERY, drop_empty_inputs, NULL, 0, 0},
};

tsr_op tsr_onnx_find_op(const char *type, int opset) {
    if (strcmp(type, "Scatter") == 0) /* until opset 11 */
        type = "ScatterElements";
    if (opset < 10 && strcmp(type, "Upsample") == 0)
        return TSR_OP_Resize;
    tsr_op op = tsr_op_find(type);
    return op == TSR_OP_Custom || op == TSR_OP_FunctionCall ? TSR_OP_COUNT : op;
}

tsr_status tsr_onnx_upgrade(tsr_graph *graph, tsr_node *node, const char *type) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (graph->opset < rules[i].before && strcmp(type, rules[i].type) == 0)
            TSR_TRY(rules[i].apply(graph, node, &rules[i]));
    return TSR_OK;
}

int tsr_onnx_changes(const char *op, int *opsets, int room) {
    int count = 0;
    for (int opset = 2; opset <= TSR_OPSET_MAX && count < room; opset++)
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            if (rules[i].before == opset && strcmp(rules[i].type, op) == 0) {
                opsets[count++] = opset;
                break;
            }
    return count;
}

/* ---- editing nodes ---- */

static tsr_status set_input(tsr_graph *graph, tsr_node *node, int input, int value) {
    if (input >= node->input_count) {
        int *inputs = TSR_NEW(graph->arena, input + 1, int);
        if (!inputs)
            return tsr_onnx_out_of_memory();
        for (int i = 0; i <= input; i++)
            inputs[i] = i < node->input_count ? node->inputs[i] : TSR_NONE;
        node->inputs = inputs;
        node->input_count = input + 1;
    }
    node->inputs[input] = value;
    return TSR_OK;
}

static void remove_attr(tsr_node *node, const char *name) {
    int kept = 0;
    for (int i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) != 0)
            node->attrs[kept++] = node->attrs[i];
    node->attr_count = kept;
}

static tsr_status set_attr(tsr_graph *graph, tsr_node *node, tsr_attr attr) {
    tsr_attr *attrs = TSR_NEW(graph->arena, node->attr_count + 1, tsr_attr);
    if (!attrs)
        return tsr_onnx_out_of_memory();
    remove_attr(node, attr.name);
    if (node->attr_count)
        memcpy(attrs, node->attrs, (size_t)node->attr_count * sizeof *attrs);
    attrs[node->attr_count++] = attr;
    node->attrs = attrs;
    return TSR_OK;
}

static tsr_status add_constant(tsr_graph *graph, const tsr_node *node, const char *suffix,
                               tsr_dtype dtype, const tsr_shape *shape, const void *data,
                               int *value) {
    const char *name = tsr_arena_printf(graph->arena, "%s.%s", node->name, suffix);
    *value = name ? tsr_graph_add_constant(graph, name, dtype, shape, data) : TSR_NONE;
    return *value == TSR_NONE ? tsr_onnx_out_of_memory() : TSR_OK;
}

/* ---- rewrites ---- */

static tsr_status drop_attr(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)graph;
    remove_attr(node, rule->attr);
    return TSR_OK;
}

/* Before opset 7 the axes of the second operand could be aligned with those of the first from
 * `axis` on: trailing dimensions of 1 make that today's broadcasting. */
static tsr_status align_at_axis(tsr_graph *graph, tsr_node *node, int64_t axis) {
    const tsr_value *first = tsr_node_in(graph, node, 0), *second = tsr_node_in(graph, node, 1);
    if (!first || !second)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it needs two inputs");
    if (first->shape.rank < 0 || second->shape.rank < 0)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "opset %d's broadcasting at an axis needs declared ranks", graph->opset);
    if (axis < 0 || axis > first->shape.rank - second->shape.rank)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%s does not fit %s from axis %lld on",
                        tsr_shape_text(&second->shape), tsr_shape_text(&first->shape),
                        (long long)axis);
    int trailing = first->shape.rank - second->shape.rank - (int)axis, value;
    if (trailing == 0)
        return TSR_OK;
    if (!second->data)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "opset %d's broadcasting at an axis needs a constant", graph->opset);
    tsr_shape shape = second->shape;
    for (int i = 0; i < trailing; i++)
        shape.dim[shape.rank++] = 1;
    TSR_TRY(add_constant(graph, node, "operand", second->dtype, &shape, second->data, &value));
    return set_input(graph, node, 1, value);
}

static tsr_status align_operand(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    bool at_axis = tsr_attr_int(node, "broadcast", 0) && tsr_node_attr(node, "axis");
    int64_t axis = tsr_attr_int(node, "axis", 0);
    remove_attr(node, "broadcast");
    remove_attr(node, "axis");
    return at_axis ? align_at_axis(graph, node, axis) : TSR_OK;
}

/* Before opset 7 the slope of PRelu had one element per channel. */
static tsr_status align_slope(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    const tsr_value *slope = tsr_node_in(graph, node, 1);
    return slope && tsr_shape_count(&slope->shape) == 1 ? TSR_OK : align_at_axis(graph, node, 1);
}

static tsr_status attr_to_input(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    const tsr_attr *attr = tsr_node_attr(node, rule->attr);
    if (!attr)
        return TSR_OK;
    if (attr->kind != rule->kind)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\" is of the wrong kind",
                        rule->attr);
    if (tsr_node_in(graph, node, rule->input))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "\"%s\" is given as attribute and as input",
                        rule->attr);
    tsr_shape shape = {.rank = 1, .dim = {attr->count}};
    const void *data = attr->floats;
    if (attr->kind == TSR_ATTR_INTS)
        data = attr->ints;
    if (attr->kind == TSR_ATTR_FLOAT) {
        float *scalar = TSR_NEW(graph->arena, 1, float);
        if (!scalar)
            return tsr_onnx_out_of_memory();
        *scalar = attr->f;
        data = scalar;
        shape.rank = 0;
    }
    if (attr->kind == TSR_ATTR_INT) { /* a list of one */
        int64_t *number = TSR_NEW(graph->arena, 1, int64_t);
        if (!number)
            return tsr_onnx_out_of_memory();
        *number = attr->i;
        data = number;
        shape.dim[0] = 1;
    }
    bool is_int = attr->kind == TSR_ATTR_INTS || attr->kind == TSR_ATTR_INT;
    tsr_dtype dtype = is_int ? TSR_DTYPE_I64 : TSR_DTYPE_F32;
    int value;
    TSR_TRY(add_constant(graph, node, rule->attr, dtype, &shape, data, &value));
    remove_attr(node, rule->attr);
    return set_input(graph, node, rule->input, value);
}

/* Upsample and Resize-10: scales are input 1, where roi is now, and coordinates are divided by
 * the scale. */
static tsr_status upsample_to_resize(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    if (node->input_count != 2)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d inputs instead of a tensor and its scales",
                        node->input_count);
    TSR_TRY(set_input(graph, node, 2, node->inputs[1]));
    node->inputs[1] = TSR_NONE;
    tsr_attr transform = {
        .name = "coordinate_transformation_mode", .kind = TSR_ATTR_STRING, .s = "asymmetric"};
    tsr_attr nearest = {.name = "nearest_mode", .kind = TSR_ATTR_STRING, .s = "floor"};
    TSR_TRY(set_attr(graph, node, transform));
    return set_attr(graph, node, nearest);
}

/* Exporters write an absent roi, scales or sizes as an empty tensor. */
static tsr_status drop_empty_inputs(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    for (int i = 1; i < node->input_count; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (value && value->data && tsr_shape_count(&value->shape) == 0)
            node->inputs[i] = TSR_NONE;
    }
    return TSR_OK;
}

static tsr_status count_split_outputs(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    if (tsr_node_in(graph, node, 1))
        return TSR_OK;
    return set_attr(
        graph, node,
        (tsr_attr){.name = "num_outputs", .kind = TSR_ATTR_INT, .i = node->output_count});
}

static tsr_status inference_batch_norm(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    for (int i = 1; i < node->output_count; i++)
        if (tsr_node_out(graph, node, i))
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "the training form, with %d outputs, is not supported",
                            node->output_count);
    node->output_count = node->output_count ? 1 : 0;
    if (graph->opset < 9) {
        if (tsr_attr_int(node, "spatial", 1) != 1)
            return tsr_fail(TSR_ERROR_UNSUPPORTED, "spatial = 0 is not supported");
        remove_attr(node, "spatial");
    }
    return TSR_OK;
}

/* Softmax-1 and -11 flatten all axes from `axis` on to the rows of a matrix: coerce_2d, an
 * attribute of Tessera, says so. */
static tsr_status coerce_softmax(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    if (!tsr_node_attr(node, "axis"))
        TSR_TRY(set_attr(graph, node, (tsr_attr){.name = "axis", .kind = TSR_ATTR_INT, .i = 1}));
    return set_attr(graph, node, (tsr_attr){.name = "coerce_2d", .kind = TSR_ATTR_INT, .i = 1});
}

/* GridSample's modes had the names of two axes. */
static tsr_status rename_mode(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    const char *mode = tsr_attr_string(node, "mode", "");
    if (strcmp(mode, "bilinear") != 0 && strcmp(mode, "bicubic") != 0)
        return TSR_OK;
    return set_attr(graph, node,
                    (tsr_attr){.name = "mode", .kind = TSR_ATTR_STRING, .s = mode + strlen("bi")});
}

static tsr_status keep_whole_pixels(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    return set_attr(graph, node,
                    (tsr_attr){.name = "coordinate_transformation_mode",
                               .kind = TSR_ATTR_STRING,
                               .s = "output_half_pixel"});
}

/* Scale and bias had an element for each group; since then they have one for each channel. */
static tsr_status scale_groups(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    return set_attr(graph, node, (tsr_attr){.name = "by_group", .kind = TSR_ATTR_INT, .i = 1});
}

/* Gelu's form as a number, which functions of one element are given. */
static tsr_status choose_gelu(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    const char *form = tsr_attr_string(node, "approximate", "none");
    if (strcmp(form, "none") != 0 && strcmp(form, "tanh") != 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "attribute \"approximate\" is \"%s\", not \"none\" or \"tanh\"", form);
    remove_attr(node, "approximate");
    const tsr_attr by_tanh = {.name = "tanh", .kind = TSR_ATTR_FLOAT, .f = 1};
    return strcmp(form, "tanh") == 0 ? set_attr(graph, node, by_tanh) : TSR_OK;
}

/* ---- graphs in attributes ---- */

/* A branch has no inputs, another body has as many as its node. */
static tsr_status check_body(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)graph;
    const tsr_attr *attr = tsr_node_attr(node, rule->attr);
    int count = node->op == TSR_OP_If ? 0 : node->input_count;
    if (!attr || attr->kind != TSR_ATTR_GRAPH || attr->body->input_count == count)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"%s\": the graph has %d inputs, not %d",
                    rule->attr, attr->body->input_count, count);
}

/* Without a trip count or a condition nothing of that kind ends it. */
static tsr_status complete_loop(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    static const int64_t usual[] = {INT64_MAX, 1};
    static const char *const names[] = {"trip_count", "condition"};
    (void)rule;
    for (int i = 0; i < 2; i++) {
        const tsr_dtype dtype = i == 0 ? TSR_DTYPE_I64 : TSR_DTYPE_BOOL;
        int value;
        if (tsr_node_in(graph, node, i))
            continue;
        TSR_TRY(add_constant(graph, node, names[i], dtype, &(tsr_shape){0}, &usual[i], &value));
        TSR_TRY(set_input(graph, node, i, value));
    }
    return TSR_OK;
}

/* Its first input was a list of lengths, axis 0 of all others a batch. */
static tsr_status batch_scan(tsr_graph *graph, tsr_node *node, const rewrite *rule) {
    (void)rule;
    const tsr_attr *directions = tsr_node_attr(node, "directions");
    if (tsr_node_in(graph, node, 0))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "sequence_lens is not supported");
    if (node->input_count > 0) {
        node->inputs++;
        node->input_count--;
    }
    if (directions) {
        tsr_attr renamed = *directions;
        renamed.name = "scan_input_directions";
        remove_attr(node, "directions");
        TSR_TRY(set_attr(graph, node, renamed));
    }
    return set_attr(graph, node, (tsr_attr){.name = "batched", .kind = TSR_ATTR_INT, .i = 1});
}
