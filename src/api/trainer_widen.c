/* Weights of 16 bits. */
#include "api/trainer.h"

#include "base/error.h"
#include "passes/edit.h"

typedef struct widening {
    tsr_graph *graph;
    const int *reads; /* by value: how many nodes' inputs and graph's outputs it is */
} widening;

static bool widens(const widening *w, const tsr_node *node) {
    return node->op == TSR_OP_Cast &&
           tsr_attr_int(node, "to", 0) == tsr_dtype_to_onnx(TSR_DTYPE_F32) &&
           !tsr_graph_is_output(w->graph, node->outputs[0]);
}

/* The node by which a value is a view of another, or transposed; NULL: there is none. */
static const tsr_node *find_view(const tsr_graph *graph, int value) {
    int producer = graph->values[value].producer;
    const tsr_node *node = producer == TSR_NONE ? NULL : &graph->nodes[producer];
    return node && (tsr_op_has(node->op, TSR_IS_VIEW) || node->op == TSR_OP_Transpose) ? node
                                                                                       : NULL;
}

/* Nothing but the Cast reads the views of the constant, nor the constant itself. */
static bool has_own_constant(const widening *w, int value) {
    const tsr_node *view = find_view(w->graph, value);
    while (view && w->reads[value] == 1) {
        value = view->inputs[0];
        view = find_view(w->graph, value);
    }
    const tsr_value *constant = &w->graph->values[value];
    return w->reads[value] == 1 && constant->data && tsr_dtype_is_half(constant->dtype);
}

/* Their elements are floats in memory, too. */
static void widen(const widening *w, tsr_node *cast) {
    tsr_graph *graph = w->graph;
    if (tsr_node_widens_constant(graph, cast)) {
        const tsr_value *in = tsr_node_in(graph, cast, 0);
        tsr_value *out = tsr_node_out(graph, cast, 0);
        out->data = in->data;
        out->shape = in->shape;
        out->dtype = TSR_DTYPE_F32;
        tsr_drop_node(graph, cast);
    } else if (has_own_constant(w, cast->inputs[0])) {
        int value = cast->inputs[0];
        for (const tsr_node *view; (view = find_view(graph, value)); value = view->inputs[0])
            graph->values[value].dtype = TSR_DTYPE_F32;
        graph->values[value].dtype = TSR_DTYPE_F32;
        cast->op = TSR_OP_Identity;
        cast->attr_count = 0;
    }
}

tsr_status tsr_training_widen(tsr_graph *graph) {
    int *reads = TSR_NEW(graph->arena, graph->value_count, int);
    const widening w = {graph, reads};
    if (!reads)
        return tsr_out_of_memory(graph);
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n].input_count; i++)
            if (graph->nodes[n].inputs[i] != TSR_NONE)
                reads[graph->nodes[n].inputs[i]]++;
    for (int i = 0; i < graph->output_count; i++)
        reads[graph->outputs[i]]++;
    for (int n = 0; n < graph->node_count; n++)
        if (widens(&w, &graph->nodes[n]))
            widen(&w, &graph->nodes[n]);
    tsr_remove_dropped(graph);
    return TSR_OK;
}
