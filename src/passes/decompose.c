/* Rewrites operators that a GPU has no kernel for as others: Max, Min, Sum and Mean of many inputs
 * as a chain of operators of two, Clip whose bounds are known only at run time as Max and Min. */
#include "passes/edit.h"

#include "base/error.h"
#include "graph/infer.h"

/* The nodes that replace one. */
typedef struct chain {
    tsr_graph *graph;
    const tsr_node *node;
    tsr_node *made;
    int count;
    int value; /* that the last one writes, or that the first is to read */
    tsr_status status;
} chain;

static bool has_varying_bound(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 1; i < node->input_count; i++)
        if (tsr_node_in(graph, node, i) && !tsr_node_in(graph, node, i)->data)
            return true;
    return false;
}

static bool is_nary(tsr_op op) {
    return op == TSR_OP_Max || op == TSR_OP_Min || op == TSR_OP_Sum || op == TSR_OP_Mean;
}

static bool is_decomposed(const tsr_graph *graph, const tsr_node *node) {
    if (node->op == TSR_OP_Clip)
        return has_varying_bound(graph, node);
    int most = node->op == TSR_OP_Mean ? 1 : 2;
    return is_nary(node->op) && node->input_count > most;
}

/* At most: a node for each input but the first, one more for a Mean. */
static int count_nodes(const tsr_graph *graph, const tsr_node *node) {
    return is_decomposed(graph, node) ? node->input_count : 1;
}

/* Appends an operator of the chain's value and another; the last one writes the node's output. */
static void append(chain *c, tsr_op op, int other, bool last) {
    const int inputs[2] = {c->value, other};
    int output = last ? c->node->outputs[0] : tsr_add_value(c->graph, c->node->name, "part");
    if (other == TSR_NONE || output == TSR_NONE)
        c->status = TSR_ERROR_OUT_OF_MEMORY;
    if (c->status != TSR_OK)
        return;
    tsr_node *node = &c->made[c->count++];
    c->status = tsr_make_node(c->graph, c->node->name, op, inputs, 2, output, node);
    c->value = output;
    if (c->status == TSR_OK)
        c->status = tsr_infer_node(c->graph, node);
}

/* A constant of the node's type. */
static int add_number(chain *c, float number) {
    float *data = TSR_NEW(c->graph->arena, 1, float);
    if (!data)
        return TSR_NONE;
    *data = number;
    return tsr_add_constant(c->graph, c->node->name, "factor",
                            tsr_node_in(c->graph, c->node, 0)->dtype, &(tsr_shape){0}, data);
}

static void decompose_nary(chain *c) {
    const tsr_node *node = c->node;
    bool is_mean = node->op == TSR_OP_Mean;
    for (int i = 1; i < node->input_count; i++)
        append(c, is_mean ? TSR_OP_Sum : node->op, node->inputs[i],
               !is_mean && i == node->input_count - 1);
    if (is_mean)
        append(c, TSR_OP_Mul, add_number(c, 1.0f / (float)node->input_count), true);
}

static void decompose_clip(chain *c) {
    const tsr_node *node = c->node;
    bool is_bounded = node->input_count > 2 && node->inputs[2] != TSR_NONE;
    if (node->inputs[1] != TSR_NONE)
        append(c, TSR_OP_Max, node->inputs[1], !is_bounded);
    if (is_bounded)
        append(c, TSR_OP_Min, node->inputs[2], true);
}

tsr_status tsr_pass_decompose(tsr_graph *graph) {
    size_t room = 0;
    for (int n = 0; n < graph->node_count; n++)
        room += (size_t)count_nodes(graph, &graph->nodes[n]);
    tsr_node *nodes = TSR_NEW(graph->arena, room, tsr_node);
    if (!nodes)
        return tsr_out_of_memory(graph);
    int count = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        if (!is_decomposed(graph, node)) {
            nodes[count++] = *node;
            continue;
        }
        chain c = {.graph = graph, .node = node, .made = nodes + count, .value = node->inputs[0]};
        node->op == TSR_OP_Clip ? decompose_clip(&c) : decompose_nary(&c);
        TSR_TRY(c.status);
        count += c.count;
    }
    graph->nodes = nodes;
    graph->node_count = count;
    tsr_remove_dropped(graph);
    return TSR_OK;
}
