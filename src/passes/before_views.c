/* Conv -> Reshape -> Relu: a function of one value is the same before the Reshape, where the Conv
 * can apply it as a post-op; a view cannot. Only where it can: elsewhere nothing is gained. */
#include "passes/edit.h"

#include "base/error.h"

/* Is it a function of each element of input 0, with no other input than single numbers, that a
 * tensor of that rank can have? */
static bool is_function_of_one(const tsr_graph *graph, const tsr_node *node, int rank) {
    if (!tsr_op_has(node->op, TSR_IS_POST_OP) || node->post_count)
        return false;
    const tsr_value *in = tsr_node_in(graph, node, 0), *out = tsr_node_out(graph, node, 0);
    if (in->data || !tsr_dtype_is_float(in->dtype) || in->dtype != out->dtype ||
        !tsr_shape_equal(&in->shape, &out->shape))
        return false;
    for (int i = 1; i < node->input_count; i++) {
        const tsr_value *number = tsr_node_in(graph, node, i);
        if (number && (!number->data || !tsr_dtype_is_float(number->dtype) ||
                       number->shape.rank > rank || tsr_shape_count(&number->shape) != 1))
            return false;
    }
    return true;
}

/* The view that makes the node's input 0, of the result of a node that can apply it as a post-op,
 * both read once; NULL if there is none. Values that were added are read once, too. */
static tsr_node *view_before(const tsr_graph *graph, const tsr_node *node, const int *readers,
                             int counted) {
    int value = node->input_count ? node->inputs[0] : TSR_NONE;
    int producer = value == TSR_NONE ? TSR_NONE : graph->values[value].producer;
    if (producer == TSR_NONE || readers[value] != 1)
        return NULL;
    tsr_node *view = &graph->nodes[producer];
    const tsr_value *in = tsr_node_in(graph, view, 0);
    if (!tsr_op_has(view->op, TSR_IS_VIEW) || view->post_count || view->output_count != 1 ||
        in->producer == TSR_NONE || in->dtype != tsr_node_out(graph, view, 0)->dtype ||
        (view->inputs[0] < counted && readers[view->inputs[0]] != 1))
        return NULL;
    return tsr_can_host(&graph->nodes[in->producer]) ? view : NULL;
}

/* The value between them is another one then, of the shape of what the view read. */
static tsr_status swap(tsr_graph *graph, tsr_node *view, tsr_node *node) {
    int between = tsr_add_value(graph, node->name, "unshaped");
    if (between == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    const int before = view->inputs[0], after = node->outputs[0];
    graph->values[between].dtype = graph->values[before].dtype;
    graph->values[between].shape = graph->values[before].shape;
    graph->values[view->outputs[0]].producer = TSR_NONE;
    tsr_node first = *node, second = *view;
    first.inputs[0] = before;
    second.inputs[0] = between;
    *view = first;
    *node = second;
    tsr_set_producer(graph, (int)(view - graph->nodes), 0, between);
    tsr_set_producer(graph, (int)(node - graph->nodes), 0, after);
    return TSR_OK;
}

tsr_status tsr_pass_before_views(tsr_graph *graph) {
    const int counted = graph->value_count;
    int *readers = tsr_count_readers(graph);
    if (!readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        tsr_node *view = view_before(graph, node, readers, counted);
        if (view && is_function_of_one(graph, node, tsr_node_in(graph, view, 0)->shape.rank))
            TSR_TRY(swap(graph, view, node));
    }
    return TSR_OK;
}
