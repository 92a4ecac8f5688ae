#include "passes/batch_norm.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>

bool tsr_is_affine(const tsr_graph *graph, const tsr_node *node) {
    if (node->op != TSR_OP_BatchNormalization || tsr_is_dropped(node) || node->post_count)
        return false;
    if (tsr_attr_int(node, "training_mode", 0)) /* a function, which a file keeps */
        return false;
    for (int i = 1; i < 5; i++)
        if (!tsr_node_in(graph, node, i)->data)
            return false;
    return true;
}

tsr_status tsr_read_affine(const tsr_graph *graph, const tsr_node *node, tsr_affine *result) {
    const float *scale = tsr_node_in(graph, node, 1)->data,
                *bias = tsr_node_in(graph, node, 2)->data;
    const float *mean = tsr_node_in(graph, node, 3)->data;
    const float *variance = tsr_node_in(graph, node, 4)->data;
    double epsilon = tsr_attr_float(node, "epsilon", 1e-5f);
    result->channels = tsr_node_in(graph, node, 0)->shape.dim[1];
    result->scale = TSR_NEW(graph->arena, result->channels, double);
    result->shift = TSR_NEW(graph->arena, result->channels, double);
    if (!result->scale || !result->shift)
        return tsr_out_of_memory(graph);
    for (int64_t c = 0; c < result->channels; c++) {
        result->scale[c] = scale[c] / sqrt(variance[c] + epsilon);
        result->shift[c] = bias[c] - mean[c] * result->scale[c];
    }
    return TSR_OK;
}
