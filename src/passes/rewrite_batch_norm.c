/* BatchNormalization becomes Mul and Add by constants of shape [1, C, 1, ...], which
 * tsr_pass_fuse_posts() may fuse: there is no kernel. */
#include "passes/batch_norm.h"

#include "base/error.h"

/* Numbers by channel as a constant of shape [1, C, 1, ...], of the rank of the node's input. */
static int add_channel_constant(tsr_graph *graph, const tsr_node *node, const char *suffix,
                                const double *numbers, int64_t channels) {
    float *data = TSR_NEW(graph->arena, channels, float);
    if (!data) {
        tsr_out_of_memory(graph);
        return TSR_NONE;
    }
    for (int64_t c = 0; c < channels; c++)
        data[c] = (float)numbers[c];
    const tsr_value *in = tsr_node_in(graph, node, 0);
    tsr_shape shape = {.rank = in->shape.rank};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == 1 ? channels : 1;
    return tsr_add_constant(graph, node->name, suffix, in->dtype, &shape, data);
}

static tsr_status make_binary(tsr_graph *graph, const tsr_node *norm, tsr_op op, int left,
                              int right, int out, tsr_node *node) {
    const int inputs[2] = {left, right};
    const char *name =
        tsr_arena_printf(graph->arena, "%s.%s", norm->name, op == TSR_OP_Mul ? "scale" : "shift");
    return name ? tsr_make_node(graph, name, op, inputs, 2, out, node) : tsr_out_of_memory(graph);
}

/* Writes the Mul and the Add that replace the node to pair. */
static tsr_status rewrite_as_mul_add(tsr_graph *graph, const tsr_node *node, tsr_node pair[2]) {
    tsr_affine a;
    TSR_TRY(tsr_read_affine(graph, node, &a));
    int scale = add_channel_constant(graph, node, "scale", a.scale, a.channels);
    int shift = add_channel_constant(graph, node, "shift", a.shift, a.channels);
    int scaled = tsr_add_value(graph, graph->values[node->outputs[0]].name, "scaled");
    if (scale == TSR_NONE || shift == TSR_NONE || scaled == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    graph->values[scaled].dtype = graph->values[node->outputs[0]].dtype;
    graph->values[scaled].shape = graph->values[node->outputs[0]].shape;
    TSR_TRY(make_binary(graph, node, TSR_OP_Mul, node->inputs[0], scale, scaled, &pair[0]));
    return make_binary(graph, node, TSR_OP_Add, scaled, shift, node->outputs[0], &pair[1]);
}

/* Copies the nodes, two for each BatchNormalization. */
tsr_status tsr_pass_rewrite_batch_norm(tsr_graph *graph) {
    tsr_node *nodes = TSR_NEW(graph->arena, 2 * (size_t)graph->node_count, tsr_node);
    if (!nodes)
        return tsr_out_of_memory(graph);
    int count = 0;
    for (int n = 0; n < graph->node_count; n++) {
        if (tsr_is_affine(graph, &graph->nodes[n])) {
            TSR_TRY(rewrite_as_mul_add(graph, &graph->nodes[n], nodes + count));
            count += 2;
        } else {
            nodes[count++] = graph->nodes[n];
        }
    }
    graph->nodes = nodes;
    graph->node_count = count;
    tsr_remove_dropped(graph);
    return TSR_OK;
}
