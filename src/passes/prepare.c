#include "passes/functions.h"

#include "base/error.h"
#include "graph/infer.h"

/* Nodes that functions make of a model in all: sequences are computed step by step. */
enum { MAX_FUNCTION_NODES = 1 << 17 };

static tsr_status append_function(tsr_node_list *list, const tsr_node *node) {
    tsr_builder b = {.graph = list->graph, .node = node, .list = list};
    tsr_build_function(&b);
    if (b.status == TSR_OK || b.told)
        return b.status;
    return tsr_fail_context(b.status, "%s: node '%s' (%s)", list->graph->file, node->name,
                            tsr_node_op_name(node));
}

/* Function operators are replaced; shapes of inputs are known. */
static tsr_status append(tsr_node_list *list, const tsr_node *node) {
    int first = list->count;
    if (tsr_is_function(list->graph, node)) {
        TSR_TRY(append_function(list, node));
    } else {
        tsr_node *copy = tsr_append_node(list);
        if (!copy)
            return TSR_ERROR_OUT_OF_MEMORY;
        *copy = *node;
    }
    list->graph->nodes = list->nodes;
    list->graph->node_count = list->count;
    for (int n = first; n < list->count; n++)
        for (int i = 0; i < list->nodes[n].output_count; i++)
            if (list->nodes[n].outputs[i] != TSR_NONE)
                tsr_set_producer(list->graph, n, i, list->nodes[n].outputs[i]);
    return TSR_OK;
}

tsr_status tsr_append_prepared(tsr_node_list *list, const tsr_node *node) {
    int first = list->count;
    TSR_TRY(append(list, node));
    for (int n = first; n < list->count; n++) {
        tsr_node *made = &list->nodes[n];
        if (tsr_is_dropped(made)) /* folded already: it is of a body */
            continue;
        TSR_TRY(tsr_infer_node(list->graph, made));
        TSR_TRY(tsr_fold_node(list->graph, made, list->folding));
    }
    return TSR_OK;
}

/* Where bodies' values are while they are copied: each has its own place until then. */
static int *make_places(const tsr_graph *graph) {
    int *places = TSR_NEW(graph->arena, graph->value_count, int);
    for (int v = 0; places && v < graph->value_count; v++)
        places[v] = v;
    return places;
}

tsr_status tsr_prepare(tsr_graph *graph, tsr_eval_fn eval) {
    tsr_folding folding = tsr_folding_begin(graph, eval);
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    tsr_node_list list = {.graph = graph,
                          .may_make = MAX_FUNCTION_NODES,
                          .bytes = &folding.bytes,
                          .folding = &folding,
                          .places = make_places(graph)};
    if (!list.places)
        return tsr_out_of_memory(graph);
    for (int n = 0; n < count; n++)
        TSR_TRY(tsr_append_prepared(&list, &nodes[n]));
    graph->node_count = list.count; /* of a graph without nodes, too */
    tsr_remove_dropped(graph);
    return tsr_pass_remove_dead(graph);
}
