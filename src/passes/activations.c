/* Which values are to have 8 bits. */
#include "passes/activations.h"

#include <string.h>

/* ---- operators ------------------------------------------------------------------------------- */

/* What an operator is to values of 8 bits. */
typedef enum op_kind {
    OTHER,
    COMPUTES,  /* its inputs and output have 8 bits if a layer follows */
    MOVES,     /* so that the output has the scale of input 0 */
    JOINS,     /* moves all inputs */
    FOLLOWS,   /* part of the operator before it, of one input and constants */
    FOLLOWS_2, /* so if one of two inputs is constant; else it computes */
} op_kind;

static bool pads_zero(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *padding = tsr_node_in(graph, node, 2);
    return !padding || (padding->data && *(const float *)padding->data == 0);
}

static bool takes_nearest(const tsr_node *node) {
    return strcmp(tsr_attr_string(node, "mode", "nearest"), "nearest") == 0;
}

static op_kind kind_of(const tsr_graph *graph, const tsr_node *node) {
    switch (node->op) {
    case TSR_OP_Reshape:
    case TSR_OP_Flatten:
    case TSR_OP_Squeeze:
    case TSR_OP_Unsqueeze:
    case TSR_OP_Transpose:
    case TSR_OP_Slice:
    case TSR_OP_Split:
    case TSR_OP_Gather:
    case TSR_OP_Expand:
    case TSR_OP_Tile:
    case TSR_OP_DepthToSpace:
    case TSR_OP_SpaceToDepth:
    case TSR_OP_MaxPool:
    case TSR_OP_GlobalMaxPool:
        return MOVES;
    case TSR_OP_Pad:
        return pads_zero(graph, node) ? MOVES : COMPUTES;
    case TSR_OP_Resize:
        return takes_nearest(node) ? MOVES : COMPUTES;
    case TSR_OP_Concat:
        return JOINS;
    case TSR_OP_Relu:
    case TSR_OP_Clip:
    case TSR_OP_BatchNormalization:
        return FOLLOWS;
    case TSR_OP_Add:
    case TSR_OP_Sub:
    case TSR_OP_Mul:
        return FOLLOWS_2;
    case TSR_OP_AveragePool:
    case TSR_OP_GlobalAveragePool:
    case TSR_OP_ReduceMean:
    case TSR_OP_InstanceNormalization:
    case TSR_OP_LeakyRelu:
    case TSR_OP_PRelu:
    case TSR_OP_Elu:
    case TSR_OP_Sigmoid:
    case TSR_OP_HardSigmoid:
    case TSR_OP_HardSwish:
    case TSR_OP_Swish:
    case TSR_OP_Tanh:
        return COMPUTES;
    default:
        return OTHER;
    }
}

static bool is_constant(const tsr_graph *graph, const tsr_node *node, int input) {
    const tsr_value *value = tsr_node_in(graph, node, input);
    return !value || value->data;
}

static bool follows(const tsr_graph *graph, const tsr_node *node) {
    op_kind kind = kind_of(graph, node);
    return kind == FOLLOWS ||
           (kind == FOLLOWS_2 && (is_constant(graph, node, 0) || is_constant(graph, node, 1)));
}

/* Inputs that are data, not shapes or parameters. */
static int data_inputs(const tsr_graph *graph, const tsr_node *node) {
    switch (kind_of(graph, node)) {
    case OTHER:
        return 0;
    case JOINS:
        return node->input_count;
    case FOLLOWS_2:
        return 2;
    default:
        return 1;
    }
}

/* ---- what is needed -------------------------------------------------------------------------- */

bool tsr_is_activation(const tsr_graph *graph, const tsr_weight_layer *layer, int input) {
    const tsr_node *node = &graph->nodes[layer->node];
    return node->op != TSR_OP_Gather && input < 2 && input != layer->input &&
           !is_constant(graph, node, input);
}

typedef struct finder {
    const tsr_graph *graph;
    tsr_activations *activations;
    const int *readers; /* by value */
} finder;

static void need(const finder *f, int value) {
    if (value != TSR_NONE && !f->graph->values[value].data)
        f->activations->of[value].quantized = true;
}

static bool is_needed(const finder *f, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && f->activations->of[node->outputs[i]].quantized)
            return true;
    return false;
}

/* From the last node to the first. */
static void need_backwards(const finder *f, const tsr_weight_layers *layers) {
    int next = layers->count - 1;
    for (int n = f->graph->node_count - 1; n >= 0; n--) {
        const tsr_node *node = &f->graph->nodes[n];
        bool is_layer = next >= 0 && layers->layers[next].node == n;
        const tsr_weight_layer *layer = is_layer ? &layers->layers[next--] : NULL;
        for (int i = 0; layer && !layer->reason && i < 2; i++)
            if (tsr_is_activation(f->graph, layer, i))
                need(f, node->inputs[i]);
        int count = is_needed(f, node) ? data_inputs(f->graph, node) : 0;
        for (int i = 0; i < count; i++)
            need(f, node->inputs[i]);
    }
}

/* Does the node compute what one that follows it can be part of? */
static bool hosts(const tsr_graph *graph, const tsr_node *node) {
    op_kind kind = kind_of(graph, node);
    return node->output_count == 1 && kind != MOVES && kind != JOINS;
}

/* Values between a node and one that follows it stay floats. */
static void keep_followed(const finder *f) {
    const tsr_graph *graph = f->graph;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < 2 && i < node->input_count && follows(graph, node); i++) {
            int value = node->inputs[i];
            int producer = value == TSR_NONE ? TSR_NONE : graph->values[value].producer;
            if (producer != TSR_NONE && f->readers[value] == 1 &&
                hosts(graph, &graph->nodes[producer]))
                f->activations->of[value].quantized = false;
        }
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int group_of(const tsr_activations *a, int value) {
    while (a->of[value].group != value)
        value = a->of[value].group;
    return value;
}

static void join(tsr_activations *a, int one, int other) {
    if (one != TSR_NONE && other != TSR_NONE && a->of[one].quantized && a->of[other].quantized)
        a->of[group_of(a, one)].group = group_of(a, other);
}

/* What is moved has the scale that it had. So has each part of what is joined, unless others read
 * it, too, for whom a smaller scale may be better: it would be rounded twice. */
static void find_groups(const finder *f) {
    const tsr_graph *graph = f->graph;
    tsr_activations *a = f->activations;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        op_kind kind = kind_of(graph, node);
        for (int i = 0; i < node->output_count && kind == MOVES; i++)
            join(a, node->inputs[0], node->outputs[i]);
        for (int i = 0; i < node->input_count && kind == JOINS; i++)
            if (node->inputs[i] != TSR_NONE && f->readers[node->inputs[i]] == 1)
                join(a, node->inputs[i], node->outputs[0]);
    }
    for (int v = 0; v < a->count; v++)
        a->of[v].group = group_of(a, v);
}

/* ---- both ------------------------------------------------------------------------------------ */

tsr_status tsr_activations_make(const tsr_graph *graph, tsr_activations *made) {
    *made = (tsr_activations){graph->value_count,
                              TSR_NEW(graph->arena, graph->value_count, tsr_activation)};
    return made->of ? TSR_OK : tsr_out_of_memory(graph);
}

tsr_status tsr_find_activations(const tsr_graph *graph, const tsr_weight_layers *layers,
                                tsr_activations *activations) {
    const finder f = {graph, activations, tsr_count_readers(graph)};
    if (!f.readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int v = 0; v < activations->count; v++) {
        activations->of[v].quantized = false;
        activations->of[v].group = v;
    }
    need_backwards(&f, layers);
    keep_followed(&f);
    find_groups(&f);
    return TSR_OK;
}
