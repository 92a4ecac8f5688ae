/* Transposes, which are passes of their own on a GPU, are joined and moved:
 * - one after another become one, or none where they cancel each other;
 * - one that keeps the order of all axes of more than one element becomes a Reshape;
 * - element by element nodes between two, as exporters from NHWC leave them, are computed before
 * the first, which then meets the second; and one whose inputs have all been moved in the same way
 * is computed before these, which become one. */
#include "passes/build.h"

#include "base/error.h"
#include "graph/infer.h"

#include <limits.h>
#include <string.h>

typedef struct transposes {
    tsr_graph *graph;
    tsr_node_list list; /* the rewritten nodes so far */
    int *readers;       /* by value that the graph had before */
    int *reader;        /* by such a value: the last node, of those before, that reads it */
    bool *meets; /* by node before: its result is moved again, perhaps by way of others like it */
    int values;  /* that the graph had before */
} transposes;

/* ---- what can be computed before a Transpose ------------------------------------------------- */

/* Along which axis of a tensor of that rank a constant varies: TSR_NONE: it is one number. */
static bool varies_along_one(const tsr_shape *shape, int rank, int *axis) {
    *axis = TSR_NONE;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] == 1)
            continue;
        if (*axis != TSR_NONE)
            return false;
        *axis = rank - shape->rank + i;
    }
    return shape->rank <= rank;
}

/* Element by element, with inputs of the result's shape and constants that are a number or vary
 * along one axis? *moving: the number of inputs that are no constants. */
static bool is_movable(const tsr_graph *graph, const tsr_node *node, int *moving) {
    *moving = 0;
    if (!tsr_op_is_elementwise(node->op) || node->post_count || node->output_count != 1)
        return false;
    const tsr_shape *shape = &tsr_node_out(graph, node, 0)->shape;
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(graph, node, i);
        int axis;
        if (!in || (in->data && varies_along_one(&in->shape, shape->rank, &axis)))
            continue;
        if (in->data || !tsr_shape_equal(&in->shape, shape))
            return false;
        ++*moving;
    }
    return *moving > 0;
}

/* The node that alone reads the value, of those before; NULL if there is none. */
static const tsr_node *lone_reader(const transposes *t, const tsr_node *nodes, int value) {
    return t->readers[value] == 1 && t->reader[value] != TSR_NONE ? &nodes[t->reader[value]] : NULL;
}

static void find_meetings(const transposes *t, const tsr_node *nodes, int count) {
    for (int n = count - 1; n >= 0; n--) {
        int moving;
        if (nodes[n].op == TSR_OP_Transpose) {
            t->meets[n] = true;
        } else if (is_movable(t->graph, &nodes[n], &moving) && moving == 1) {
            const tsr_node *reader = lone_reader(t, nodes, nodes[n].outputs[0]);
            t->meets[n] = reader && t->meets[reader - nodes];
        }
    }
}

/* ---- the rewritten nodes --------------------------------------------------------------------- */

/* The Transpose that makes the value; NULL if it is something else, or fused with something. */
static const tsr_node *transpose_before(const transposes *t, int value) {
    int producer = value == TSR_NONE ? TSR_NONE : t->graph->values[value].producer;
    const tsr_node *node = producer == TSR_NONE ? NULL : &t->list.nodes[producer];
    return node && node->op == TSR_OP_Transpose && !node->post_count ? node : NULL;
}

/* Values that were added have one reader. */
static bool is_read_once(const transposes *t, int value) {
    return value >= t->values || t->readers[value] == 1;
}

static tsr_status append(transposes *t, const tsr_node *node) {
    const int first = t->list.count;
    TSR_TRY(tsr_append_copy(&t->list, node));
    tsr_use_node_list(&t->list, first);
    return TSR_OK;
}

/* Makes the node another that has one input, the value, and its output. */
static tsr_status replace(transposes *t, tsr_node *node, tsr_op op, int value,
                          const int64_t *perm) {
    tsr_graph *graph = t->graph;
    const tsr_shape shape = tsr_node_out(graph, node, 0)->shape; /* a copy: values may move */
    int list = op == TSR_OP_Reshape ? tsr_add_shape(graph, node->name, &shape) : TSR_NONE;
    if (op == TSR_OP_Reshape && list == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    TSR_TRY(tsr_make_node(graph, node->name, op, (int[]){value, list}, op == TSR_OP_Reshape ? 2 : 1,
                          node->outputs[0], node));
    if (op != TSR_OP_Transpose)
        return TSR_OK;
    tsr_attr *attr = TSR_NEW(graph->arena, 1, tsr_attr);
    int64_t *ints = TSR_NEW(graph->arena, TSR_MAX_RANK, int64_t);
    if (!attr || !ints)
        return tsr_out_of_memory(graph);
    memcpy(ints, perm, (size_t)shape.rank * sizeof *ints);
    *attr = (tsr_attr){.name = "perm", .kind = TSR_ATTR_INTS, .count = shape.rank, .ints = ints};
    node->attrs = attr;
    node->attr_count = 1;
    return TSR_OK;
}

/* Joins the Transpose with one before it, if that saves one; makes it a Reshape if it can be. */
static tsr_status join(transposes *t, tsr_node *node) {
    int value = node->inputs[0];
    const tsr_node *first = transpose_before(t, value);
    const tsr_value *in = &t->graph->values[value];
    int64_t perm[TSR_MAX_RANK], before[TSR_MAX_RANK], both[TSR_MAX_RANK];
    tsr_node_perm(node, in->shape.rank, perm);
    memcpy(both, perm, sizeof both);
    if (first) {
        const tsr_value *from = tsr_node_in(t->graph, first, 0);
        tsr_node_perm(first, in->shape.rank, before);
        for (int i = 0; i < in->shape.rank; i++)
            both[i] = before[perm[i]];
        if (tsr_keeps_order(&from->shape, both) || is_read_once(t, value)) {
            value = first->inputs[0];
            in = from;
        } else {
            memcpy(both, perm, sizeof both);
        }
    }
    if (value != node->inputs[0] || tsr_keeps_order(&in->shape, both)) {
        bool same = tsr_shape_equal(&in->shape, &tsr_node_out(t->graph, node, 0)->shape);
        tsr_op op = !tsr_keeps_order(&in->shape, both) ? TSR_OP_Transpose
                    : same                             ? TSR_OP_Identity
                                                       : TSR_OP_Reshape;
        TSR_TRY(replace(t, node, op, value, both));
    }
    return append(t, node);
}

/* Have all inputs that are no constants been moved in the same way, and for this node alone? */
static const tsr_node *common_transpose(const transposes *t, const tsr_node *node) {
    const tsr_node *common = NULL;
    int rank = tsr_node_out(t->graph, node, 0)->shape.rank;
    for (int i = 0; i < node->input_count; i++) {
        int value = node->inputs[i];
        if (value == TSR_NONE || t->graph->values[value].data)
            continue;
        const tsr_node *moved = transpose_before(t, value);
        int64_t one[TSR_MAX_RANK], other[TSR_MAX_RANK];
        if (!moved || !is_read_once(t, value))
            return NULL;
        common = common ? common : moved;
        tsr_node_perm(common, rank, one);
        tsr_node_perm(moved, rank, other);
        if (memcmp(one, other, (size_t)rank * sizeof *one) != 0)
            return NULL;
    }
    return common;
}

/* The value to read instead of an input; TSR_NONE after a failure. */
static int input_before(transposes *t, const tsr_node *node, int value, const int64_t *perm,
                        int rank) {
    const tsr_value in = t->graph->values[value];
    int axis;
    if (!in.data)
        return transpose_before(t, value)->inputs[0];
    varies_along_one(&in.shape, rank, &axis);
    if (axis == TSR_NONE)
        return value;
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = 1;
    shape.dim[perm[axis]] = tsr_shape_count(&in.shape);
    return tsr_add_constant(t->graph, node->name, "moved", in.dtype, &shape, in.data);
}

/* Computes the node from what the Transposes read; one like `moved` follows it. */
static tsr_status compute_before(transposes *t, const tsr_node *node, const tsr_node *moved) {
    tsr_graph *graph = t->graph;
    const tsr_value out = *tsr_node_out(graph, node, 0);
    const tsr_node after = *moved; /* copies: values and nodes may move */
    const tsr_shape shape = graph->values[after.inputs[0]].shape;
    int64_t perm[TSR_MAX_RANK];
    tsr_node_perm(&after, shape.rank, perm);
    int *inputs = TSR_NEW(graph->arena, node->input_count, int);
    if (!inputs)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < node->input_count; i++) {
        inputs[i] = node->inputs[i];
        if (inputs[i] != TSR_NONE)
            inputs[i] = input_before(t, node, inputs[i], perm, shape.rank);
        if (inputs[i] == TSR_NONE && node->inputs[i] != TSR_NONE)
            return TSR_ERROR_OUT_OF_MEMORY;
    }
    int value = tsr_add_value(graph, node->name, "unmoved");
    if (value == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    graph->values[value].dtype = out.dtype;
    graph->values[value].shape = shape;
    tsr_node computed, last;
    TSR_TRY(
        tsr_make_node(graph, node->name, node->op, inputs, node->input_count, value, &computed));
    computed.attrs = node->attrs;
    computed.attr_count = node->attr_count;
    TSR_TRY(tsr_make_node(graph, after.name, TSR_OP_Transpose, &value, 1, node->outputs[0], &last));
    last.attrs = after.attrs;
    last.attr_count = after.attr_count;
    TSR_TRY(append(t, &computed));
    return append(t, &last);
}

static tsr_status rewrite(transposes *t, tsr_node *node, bool meets) {
    int moving;
    if (node->op == TSR_OP_Transpose && !node->post_count)
        return join(t, node);
    if (is_movable(t->graph, node, &moving) && (moving > 1 || meets)) {
        const tsr_node *moved = common_transpose(t, node);
        if (moved)
            return compute_before(t, node, moved);
    }
    return append(t, node);
}

tsr_status tsr_pass_transposes(tsr_graph *graph) {
    tsr_node *nodes = graph->nodes;
    const int count = graph->node_count, values = graph->value_count;
    transposes t = {.graph = graph,
                    .list = {.graph = graph, .may_make = INT_MAX},
                    .readers = tsr_count_readers(graph),
                    .reader = TSR_NEW(graph->arena, values, int),
                    .meets = TSR_NEW(graph->arena, count, bool),
                    .values = values};
    if (!t.readers || !t.reader || !t.meets)
        return tsr_out_of_memory(graph);
    for (int v = 0; v < values; v++)
        t.reader[v] = TSR_NONE;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < nodes[n].input_count; i++)
            if (nodes[n].inputs[i] != TSR_NONE)
                t.reader[nodes[n].inputs[i]] = n;
    find_meetings(&t, nodes, count);
    for (int n = 0; n < count; n++)
        TSR_TRY(rewrite(&t, &nodes[n], t.meets[n]));
    graph->node_count = t.list.count;
    return tsr_pass_remove_dead(graph);
}
