/* Removes nodes that return their input unchanged, and merges two consecutive reshaping nodes
 * into one Reshape. A node that writes an output of the graph is removed too if the node before
 * it can write that output. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/infer.h"

/* By value. A value that is read instead of another may itself be replaced later. */
typedef struct reads {
    int *count;   /* of the values that the graph had before */
    int *instead; /* the value to read instead; TSR_NONE: itself */
} reads;

/* Does the node change the shape and nothing else? Shapes are known. */
static bool is_reshaping(const tsr_graph *graph, const tsr_node *node) {
    return tsr_op_has(node->op, TSR_IS_VIEW) && !node->post_count &&
           !tsr_shape_equal(&tsr_node_in(graph, node, 0)->shape,
                            &tsr_node_out(graph, node, 0)->shape);
}

/* Do the axes of more than one element keep their order? */
static bool keeps_order(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape) {
    (void)graph;
    int64_t perm[TSR_MAX_RANK];
    tsr_node_perm(node, shape->rank, perm);
    return tsr_keeps_order(shape, perm);
}

/* Shapes are equal already. */
static bool keeps_elements(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape) {
    (void)graph, (void)node, (void)shape;
    return true;
}

static bool slices_all(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape) {
    tsr_slice slice;
    if (tsr_node_slice(graph, node, &slice) != TSR_OK)
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (slice.start[i] != 0 || (slice.step[i] != 1 && shape->dim[i] > 1))
            return false;
    return true;
}

static bool pads_nothing(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape) {
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    if (tsr_node_pads(graph, node, begin, end) != TSR_OK)
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (begin[i] != 0 || end[i] != 0)
            return false;
    return true;
}

/* At an integer coordinate every mode reads exactly that element. */
enum { MAX_COORDINATES = 1 << 20 }; /* bounds the time of looking */
static bool resizes_nothing(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape) {
    tsr_resize resize;
    if (tsr_node_resize(graph, node, &resize) != TSR_OK)
        return false;
    for (int axis = 0; axis < shape->rank; axis++) {
        if (shape->dim[axis] > MAX_COORDINATES)
            return false;
        for (int64_t i = 0; i < shape->dim[axis]; i++)
            if (tsr_resize_coordinate(&resize, axis, shape->dim[axis], i) != (float)i)
                return false;
    }
    return true;
}

static bool has_one_input(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape) {
    (void)graph, (void)shape;
    return node->input_count == 1;
}

static bool keeps_type(const tsr_graph *graph, const tsr_node *node) {
    tsr_dtype in = tsr_node_in(graph, node, 0)->dtype, out = tsr_node_out(graph, node, 0)->dtype;
    bool may_differ = !graph->is_exported && tsr_dtype_is_float(in) && tsr_dtype_is_float(out);
    return in == out || may_differ;
}

/* Does a data movement node keep all elements of input 0, which has this shape, where they are? */
typedef bool keeps_all_fn(const tsr_graph *graph, const tsr_node *node, const tsr_shape *shape);

static keeps_all_fn *const keeps_all[TSR_OP_NAMES] = {
    [TSR_OP_Concat] = has_one_input,   [TSR_OP_Transpose] = keeps_order,
    [TSR_OP_Slice] = slices_all,       [TSR_OP_Pad] = pads_nothing,
    [TSR_OP_Resize] = resizes_nothing, [TSR_OP_Max] = has_one_input,
    [TSR_OP_Min] = has_one_input,      [TSR_OP_Sum] = has_one_input,
    [TSR_OP_Mean] = has_one_input,     [TSR_OP_Expand] = keeps_elements,
};

/* Is output 0 the same tensor as input 0? Shapes are known. */
static bool is_no_op(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *in = tsr_node_in(graph, node, 0), *out = tsr_node_out(graph, node, 0);
    if (node->post_count || !in || !out || !tsr_shape_equal(&in->shape, &out->shape))
        return false;
    if (tsr_op_has(node->op, TSR_IS_VIEW))
        return keeps_type(graph, node) && !tsr_is_random(graph, node);
    return keeps_all[node->op] && keeps_all[node->op](graph, node, &in->shape);
}

/* The index of the value among the node's outputs. */
static int output_index(const tsr_node *node, int value) {
    int i = 0;
    while (node->outputs[i] != value)
        i++;
    return i;
}

/* Makes the producer of `in` write `out`, an output of the graph, instead; false if that is not
 * possible. */
static bool write_graph_output(tsr_graph *graph, const reads *r, int in, int out) {
    int producer = graph->values[in].producer;
    if (producer == TSR_NONE || tsr_graph_is_output(graph, in))
        return false;
    tsr_set_producer(graph, producer, output_index(&graph->nodes[producer], in), out);
    graph->values[in].producer = TSR_NONE;
    r->instead[in] = out;
    return true;
}

static void bypass(tsr_graph *graph, tsr_node *node, const reads *r) {
    int in = node->inputs[0], out = node->outputs[0];
    int others = r->count[in] + r->count[out] - 1; /* without this node */
    if (!tsr_graph_is_output(graph, out))
        r->instead[out] = in;
    else if (!write_graph_output(graph, r, in, out))
        return;
    r->count[in] = r->count[out] = others;
    tsr_drop_node(graph, node);
}

/* The reshaping node that this node alone reads; NULL if there is none. */
static tsr_node *reshaping_before(const tsr_graph *graph, const tsr_node *node,
                                  const int *readers) {
    const tsr_value *in = tsr_node_in(graph, node, 0);
    if (!in || in->producer == TSR_NONE || readers[node->inputs[0]] != 1)
        return NULL;
    tsr_node *before = &graph->nodes[in->producer];
    return is_reshaping(graph, before) ? before : NULL;
}

/* Makes the second of two reshaping nodes a Reshape of the input of the first. */
static tsr_status join_reshapes(tsr_graph *graph, tsr_node *first, tsr_node *second) {
    const tsr_value *out = tsr_node_out(graph, second, 0);
    int *inputs = TSR_NEW(graph->arena, 2, int);
    if (!inputs)
        return tsr_out_of_memory(graph);
    const tsr_shape shape = out->shape; /* a copy: adding a value moves the array */
    inputs[0] = first->inputs[0];
    inputs[1] = tsr_add_shape(graph, out->name, &shape);
    if (inputs[1] == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    second->op = TSR_OP_Reshape;
    second->inputs = inputs;
    second->input_count = 2;
    second->attr_count = 0;
    tsr_drop_node(graph, first);
    return TSR_OK;
}

static int find_instead(const reads *r, int value) {
    while (value != TSR_NONE && r->instead[value] != TSR_NONE)
        value = r->instead[value];
    return value;
}

static void replace_reads(tsr_node *node, const reads *r) {
    for (int i = 0; i < node->input_count; i++)
        node->inputs[i] = find_instead(r, node->inputs[i]);
    for (int i = 0; i < node->post_count; i++)
        node->posts[i].operand = find_instead(r, node->posts[i].operand);
}

static tsr_status bypass_node(tsr_graph *graph, tsr_node *node, const reads *r) {
    replace_reads(node, r);
    tsr_node *before = is_reshaping(graph, node) ? reshaping_before(graph, node, r->count) : NULL;
    if (before)
        TSR_TRY(join_reshapes(graph, before, node));
    if (is_no_op(graph, node))
        bypass(graph, node, r);
    return TSR_OK;
}

/* A node that writes a graph's output later than those that read it have been visited replaces
 * their reads, too: all are looked at twice. */
tsr_status tsr_pass_bypass(tsr_graph *graph) {
    const int values = graph->value_count + graph->node_count; /* a shape for each node */
    const reads r = {.count = tsr_count_readers(graph),
                     .instead = TSR_NEW(graph->arena, values, int)};
    if (!r.count || !r.instead)
        return tsr_out_of_memory(graph);
    for (int v = 0; v < values; v++)
        r.instead[v] = TSR_NONE;
    for (int n = 0; n < graph->node_count; n++)
        TSR_TRY(bypass_node(graph, &graph->nodes[n], &r));
    for (int n = 0; n < graph->node_count; n++)
        replace_reads(&graph->nodes[n], &r);
    tsr_remove_dropped(graph);
    return TSR_OK;
}
