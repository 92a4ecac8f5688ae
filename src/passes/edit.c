#include "passes/edit.h"

#include "base/error.h"

#include <string.h>

bool tsr_has_body(const tsr_node *node) {
    for (int i = 0; i < node->attr_count; i++)
        if (node->attrs[i].kind == TSR_ATTR_GRAPH)
            return true;
    return false;
}

tsr_status tsr_out_of_memory(const tsr_graph *graph) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: out of memory", graph->file);
}

tsr_status tsr_copy_constants(tsr_graph *graph) {
    for (int v = 0; v < graph->value_count; v++)
        if (!tsr_graph_copy_to_arena(graph, v))
            return tsr_out_of_memory(graph);
    return TSR_OK;
}

int *tsr_count_readers(const tsr_graph *graph) {
    int *readers = TSR_NEW(graph->arena, graph->value_count, int);
    if (!readers) {
        tsr_out_of_memory(graph);
        return NULL;
    }
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE)
                readers[node->inputs[i]]++;
        for (int i = 0; i < node->post_count; i++)
            if (node->posts[i].operand != TSR_NONE)
                readers[node->posts[i].operand]++;
    }
    for (int i = 0; i < graph->output_count; i++)
        readers[graph->outputs[i]]++;
    return readers;
}

void tsr_drop_node(tsr_graph *graph, tsr_node *node) {
    int index = (int)(node - graph->nodes);
    for (int i = 0; i < node->output_count; i++) {
        tsr_value *out = tsr_node_out(graph, node, i);
        if (out && out->producer == index)
            out->producer = TSR_NONE;
    }
    node->input_count = node->output_count = node->post_count = 0;
}

/* Every operator has at least one output. */
bool tsr_is_dropped(const tsr_node *node) {
    return node->output_count == 0;
}

void tsr_set_producer(tsr_graph *graph, int node, int i, int value) {
    graph->nodes[node].outputs[i] = value;
    graph->values[value].producer = node;
}

void tsr_remove_dropped(tsr_graph *graph) {
    int kept = 0;
    for (int n = 0; n < graph->node_count; n++) {
        if (tsr_is_dropped(&graph->nodes[n]))
            continue;
        graph->nodes[kept] = graph->nodes[n];
        for (int i = 0; i < graph->nodes[kept].output_count; i++) {
            tsr_value *out = tsr_node_out(graph, &graph->nodes[kept], i);
            if (out)
                out->producer = kept;
        }
        kept++;
    }
    graph->node_count = kept;
}

int tsr_add_value(tsr_graph *graph, const char *base, const char *suffix) {
    enum { SHOWN = 64 }; /* a long name in a file is not stored many times */
    const char *name = tsr_arena_printf(graph->arena, "%.*s.%s", SHOWN, base, suffix);
    while (name && tsr_graph_find_value(graph, name) != TSR_NONE)
        name = tsr_arena_printf(graph->arena, "%.*s.%s%d", SHOWN, base, suffix,
                                ++graph->made_count + 1);
    int value = name ? tsr_graph_add_value(graph, name) : TSR_NONE;
    if (value == TSR_NONE)
        tsr_out_of_memory(graph);
    return value;
}

int tsr_add_constant(tsr_graph *graph, const char *base, const char *suffix, tsr_dtype dtype,
                     const tsr_shape *shape, const void *data) {
    int value = tsr_add_value(graph, base, suffix);
    if (value != TSR_NONE) {
        graph->values[value].dtype = dtype;
        graph->values[value].shape = *shape;
        graph->values[value].data = data;
    }
    return value;
}

int tsr_add_shape(tsr_graph *graph, const char *base, const tsr_shape *shape) {
    const tsr_shape list = {.rank = 1, .dim = {shape->rank}};
    int64_t *dims = TSR_NEW(graph->arena, TSR_MAX_RANK, int64_t);
    if (!dims) {
        tsr_out_of_memory(graph);
        return TSR_NONE;
    }
    memcpy(dims, shape->dim, sizeof shape->dim);
    return tsr_add_constant(graph, base, "shape", TSR_DTYPE_I64, &list, dims);
}

tsr_status tsr_make_node(tsr_graph *graph, const char *name, tsr_op op, const int *inputs,
                         int input_count, int output, tsr_node *node) {
    int *slots = TSR_NEW(graph->arena, input_count + 1, int);
    if (!slots)
        return tsr_out_of_memory(graph);
    memcpy(slots, inputs, (size_t)input_count * sizeof *slots);
    slots[input_count] = output;
    *node = (tsr_node){.name = name,
                       .op = op,
                       .input_count = input_count,
                       .output_count = 1,
                       .inputs = slots,
                       .outputs = slots + input_count};
    return TSR_OK;
}

bool tsr_keeps_order(const tsr_shape *shape, const int64_t *perm) {
    int64_t last = -1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return false;
        last = perm[i];
    }
    return true;
}
