#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_infer_log_softmax(tsr_graph *graph, tsr_node *node) {
    return tsr_infer_softmax(graph, node);
}

tsr_status tsr_infer_softmax(tsr_graph *graph, tsr_node *node) {
    TSR_TRY(tsr_require_float(graph, node, 1));
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1),
                               tsr_node_in(graph, node, 0)->shape.rank, &axis));
    return tsr_infer_same(graph, node);
}
