#include "passes/import.h"

#include <limits.h>

#include "passes/build.h"

static tsr_status import_constant(tsr_graph *graph, tsr_graph *source, int value, int *places) {
    const tsr_value *from = value == TSR_NONE ? NULL : &source->values[value];
    if (!from || !from->data || places[value] != TSR_NONE)
        return TSR_OK;
    if (!tsr_graph_copy_to_arena(source, value))
        return tsr_out_of_memory(source);
    int place =
        tsr_add_constant(graph, from->name, "import", from->dtype, &from->shape, from->data);
    if (place == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    graph->values[place].precise = from->precise;
    places[value] = place;
    return TSR_OK;
}

tsr_status tsr_import_constants(tsr_graph *graph, tsr_graph *source, int *places) {
    for (int v = 0; v < source->value_count; v++)
        places[v] = TSR_NONE;
    for (int n = 0; n < source->node_count; n++)
        for (int i = 0; i < source->nodes[n].input_count; i++)
            TSR_TRY(import_constant(graph, source, source->nodes[n].inputs[i], places));
    for (int i = 0; i < source->output_count; i++)
        TSR_TRY(import_constant(graph, source, source->outputs[i], places));
    return TSR_OK;
}

static tsr_status add_result(tsr_graph *graph, const tsr_value *from, const char *suffix,
                             int *place) {
    *place = tsr_add_value(graph, from->name, suffix);
    if (*place == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    graph->values[*place].dtype = from->dtype;
    graph->values[*place].shape = from->shape;
    graph->values[*place].precise = from->precise;
    return TSR_OK;
}

static tsr_status import_node(tsr_node_list *list, const tsr_graph *source, const tsr_node *node,
                              const char *suffix, int *places) {
    tsr_graph *graph = list->graph;
    tsr_node copy = *node;
    copy.name = tsr_arena_printf(graph->arena, "%s.%s", node->name, suffix);
    copy.inputs = TSR_NEW(graph->arena, node->input_count + 1, int);
    copy.outputs = TSR_NEW(graph->arena, node->output_count, int);
    if (!copy.name || !copy.inputs || !copy.outputs)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < node->input_count; i++)
        copy.inputs[i] = node->inputs[i] == TSR_NONE ? TSR_NONE : places[node->inputs[i]];
    for (int i = 0; i < node->output_count; i++) {
        int from = node->outputs[i];
        if (from != TSR_NONE)
            TSR_TRY(add_result(graph, &source->values[from], suffix, &places[from]));
        copy.outputs[i] = from == TSR_NONE ? TSR_NONE : places[from];
    }
    return tsr_append_copy(list, &copy);
}

tsr_status tsr_import_nodes(tsr_graph *graph, const tsr_graph *source, const char *suffix,
                            int *places) {
    int first = graph->node_count;
    tsr_node_list list = {
        .graph = graph, .nodes = graph->nodes, .count = first, .room = first, .may_make = INT_MAX};
    for (int n = 0; n < source->node_count; n++)
        TSR_TRY(import_node(&list, source, &source->nodes[n], suffix, places));
    tsr_use_node_list(&list, first);
    return TSR_OK;
}
