/* What makes a graph small that is written to a file. */
#include "passes/edit.h"
#include "passes/functions.h"

#include "base/error.h"

#include <string.h>

/* Passes that leave operators of ONNX, and the opset that has all that they make. */
static const struct {
    tsr_status (*run)(tsr_graph *graph);
    int opset;
} passes[] = {{tsr_pass_recognize_shuffle, 0},
              {tsr_pass_transposes, 0},
              {tsr_pass_bypass, 0},
              {tsr_pass_cse, 0},
              {tsr_pass_recognize_layer_norm, 17},
              {tsr_pass_recognize_gelu, 20},
              {tsr_pass_recognize_swish, 24},
              {tsr_pass_pad_into_window, 0},
              {tsr_pass_fold_batch_norm, 0},
              {tsr_pass_fold_batch_norm_next, 0}};

/* ---- graphs whose inputs have open sizes ----------------------------------------------------- */

static bool has_open_inputs(const tsr_graph *graph) {
    for (int i = 0; i < graph->input_count; i++)
        if (tsr_shape_count(&graph->values[graph->inputs[i]].shape) < 0)
            return true;
    return false;
}

static bool has_constants_only(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] != TSR_NONE && !graph->values[node->inputs[i]].data)
            return false;
    return node->input_count > 0 && !tsr_has_body(node);
}

/* Shapes are not inferred: only nodes of constants are computed. */
static tsr_status fold_constants(tsr_graph *graph, tsr_eval_fn eval) {
    tsr_folding folding;
    TSR_TRY(tsr_folding_begin_export(graph, eval, &folding));
    tsr_node_list list = {
        .graph = graph, .may_make = 1 << 16, .bytes = &folding.bytes, .folding = &folding};
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    for (int n = 0; n < count; n++) {
        int first = list.count;
        if (has_constants_only(graph, &nodes[n])) {
            TSR_TRY(tsr_append_prepared(&list, &nodes[n]));
            continue;
        }
        TSR_TRY(tsr_append_copy(&list, &nodes[n]));
        tsr_use_node_list(&list, first);
    }
    graph->node_count = list.count;
    tsr_remove_dropped(graph);
    return tsr_pass_remove_dead(graph);
}

/* ---- graphs of known shapes ------------------------------------------------------------------ */

/* What bodies read of the values around them must stay: passes do not look into them. Such values
 * are the graph's outputs while passes run. */
static tsr_status keep_captured(tsr_graph *graph) {
    int count = graph->output_count, room = count;
    for (int n = 0; n < graph->node_count; n++)
        room += tsr_has_body(&graph->nodes[n]) ? graph->nodes[n].input_count : 0;
    int *outputs = TSR_NEW(graph->arena, room, int);
    if (!outputs)
        return tsr_out_of_memory(graph);
    if (count)
        memcpy(outputs, graph->outputs, (size_t)count * sizeof *outputs);
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; tsr_has_body(&graph->nodes[n]) && i < graph->nodes[n].input_count; i++)
            if (graph->nodes[n].inputs[i] != TSR_NONE)
                outputs[count++] = graph->nodes[n].inputs[i];
    graph->outputs = outputs;
    graph->output_count = count;
    return TSR_OK;
}

static tsr_status append_late(tsr_graph *graph, const tsr_late_nodes *late) {
    tsr_node_list list = {.graph = graph};
    for (int n = 0; n < graph->node_count; n++)
        TSR_TRY(tsr_append_copy(&list, &graph->nodes[n]));
    for (int n = 0; n < late->node_count; n++)
        TSR_TRY(tsr_append_copy(&list, &late->nodes[n]));
    tsr_use_node_list(&list, graph->node_count);
    return TSR_OK;
}

static tsr_status optimize(tsr_graph *graph, tsr_eval_fn eval, int opset) {
    int *outputs = graph->outputs, output_count = graph->output_count;
    tsr_late_nodes late;
    TSR_TRY(tsr_copy_constants(graph)); /* passes read weights that they change */
    TSR_TRY(tsr_prepare_to_export(graph, eval, &late));
    TSR_TRY(keep_captured(graph));
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (opset >= passes[i].opset)
            TSR_TRY(passes[i].run(graph));
    TSR_TRY(append_late(graph, &late));
    graph->outputs = outputs;
    graph->output_count = output_count;
    return tsr_pass_remove_dead(graph);
}

/* ---- both ------------------------------------------------------------------------------------ */

tsr_status tsr_export(tsr_graph *graph, tsr_eval_fn eval, int opset, bool keep_nodes) {
    graph->is_exported = true;
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v].model_constant = 0; /* passes may change weights */
    return keep_nodes || has_open_inputs(graph) ? fold_constants(graph, eval)
                                                : optimize(graph, eval, opset);
}
