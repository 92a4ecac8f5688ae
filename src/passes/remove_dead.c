#include "passes/edit.h"

#include "base/error.h"

/* Walks backwards from the graph's outputs: the inputs of a node are needed if one of its
 * outputs is. Optional outputs that nothing reads (a mask, a pool's indices) become absent. */

static void need(bool *needed, int value) {
    if (value != TSR_NONE)
        needed[value] = true;
}

static bool is_needed(const tsr_node *node, const bool *needed) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && needed[node->outputs[i]])
            return true;
    return false;
}

static void trim_outputs(tsr_graph *graph, tsr_node *node, const bool *needed) {
    const tsr_op_info *info = tsr_op_get_info(node->op);
    /* Split: the number of outputs is the number of parts; a file may not lack those that ONNX does
     * not say are optional. */
    if (info->max_outputs == TSR_VARIADIC || graph->is_exported)
        return;
    for (int i = info->min_outputs; i < node->output_count; i++) {
        tsr_value *out = tsr_node_out(graph, node, i);
        if (out && !needed[node->outputs[i]]) {
            out->producer = TSR_NONE;
            node->outputs[i] = TSR_NONE;
        }
    }
    while (node->output_count > info->min_outputs &&
           node->outputs[node->output_count - 1] == TSR_NONE)
        node->output_count--;
}

tsr_status tsr_pass_remove_dead(tsr_graph *graph) {
    bool *needed = TSR_NEW(graph->arena, graph->value_count, bool);
    if (!needed)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < graph->output_count; i++)
        need(needed, graph->outputs[i]);
    for (int n = graph->node_count - 1; n >= 0; n--) {
        tsr_node *node = &graph->nodes[n];
        if (!is_needed(node, needed)) {
            tsr_drop_node(graph, node);
            continue;
        }
        trim_outputs(graph, node, needed);
        for (int i = 0; i < node->input_count; i++)
            need(needed, node->inputs[i]);
        for (int i = 0; i < node->post_count; i++)
            need(needed, node->posts[i].operand);
    }
    tsr_remove_dropped(graph);
    return TSR_OK;
}
