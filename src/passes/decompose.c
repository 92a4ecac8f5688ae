/* Rewrites operators that a GPU has no kernel for as others: Max, Min, Sum and Mean of many inputs
 * as a chain of operators of two, Clip whose bounds are known only at run time as Max and Min,
 * ReduceLogSumExp as what it is made of, Pow of a float and an integer as one of floats, sums of
 * integers that become floats as sums of parts. */
#include "passes/split_sums.h"

#include "base/error.h"
#include "graph/infer.h"

#include <float.h>
#include <limits.h>
#include <math.h>

static bool has_varying_bound(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 1; i < node->input_count; i++)
        if (tsr_node_in(graph, node, i) && !tsr_node_in(graph, node, i)->data)
            return true;
    return false;
}

static bool is_replaced(const tsr_graph *graph, const tsr_node *node, const bool *exact_reads) {
    switch (node->op) {
    case TSR_OP_Clip:
        return has_varying_bound(graph, node);
    case TSR_OP_Max:
    case TSR_OP_Min:
    case TSR_OP_Sum:
        return node->input_count > 2;
    case TSR_OP_Mean:
        return node->input_count > 1;
    case TSR_OP_ReduceLogSumExp:
        return true;
    case TSR_OP_Pow:
        return tsr_dtype_is_float(tsr_node_in(graph, node, 0)->dtype) &&
               !tsr_dtype_is_float(tsr_node_in(graph, node, 1)->dtype) &&
               !tsr_node_in(graph, node, 1)->data;
    default:
        return tsr_must_split_sums(graph, node, exact_reads);
    }
}

static void decompose_nary(tsr_builder *b) {
    const tsr_node *node = b->node;
    bool is_mean = node->op == TSR_OP_Mean;
    int value = node->inputs[0];
    for (int i = 1; i < node->input_count; i++)
        value = TSR_BUILD(b, is_mean ? TSR_OP_Sum : node->op, value, node->inputs[i]);
    if (is_mean)
        TSR_BUILD(b, TSR_OP_Mul, value, tsr_build_number(b, 1.0f / (float)node->input_count));
}

/* An absent bound is the largest float. */
static void decompose_clip(tsr_builder *b) {
    const int *inputs = b->node->inputs;
    const bool has_low = inputs[1] != TSR_NONE,
               has_high = b->node->input_count > 2 && inputs[2] != TSR_NONE;
    int value = inputs[0];
    if (!(has_low && has_high) && tsr_dtype_is_float(b->graph->values[value].dtype))
        value = TSR_BUILD(b, TSR_OP_Clip, value, tsr_build_number(b, -FLT_MAX),
                          tsr_build_number(b, FLT_MAX));
    if (has_low)
        value = TSR_BUILD(b, TSR_OP_Max, value, inputs[1]);
    if (has_high)
        TSR_BUILD(b, TSR_OP_Min, value, inputs[2]);
}

/* log(sum(exp(x - most))) + most, where most is the largest, or the largest float. */
static void decompose_log_sum_exp(tsr_builder *b) {
    const tsr_node *node = b->node;
    const int x = node->inputs[0];
    const int axes = node->input_count > 1 ? node->inputs[1] : TSR_NONE;
    const tsr_attr keeps = {.name = "keepdims", .kind = TSR_ATTR_INT, .i = 1},
                   noop = {.name = "noop_with_empty_axes",
                           .kind = TSR_ATTR_INT,
                           .i = tsr_attr_int(node, "noop_with_empty_axes", 0)};
    int most =
        tsr_build_with(b, TSR_OP_ReduceMax, 2, (int[]){x, axes}, 2, (tsr_attr[]){keeps, noop});
    most = TSR_BUILD(b, TSR_OP_Clip, most, tsr_build_number(b, -FLT_MAX),
                     tsr_build_number(b, FLT_MAX));
    int parts = TSR_BUILD(b, TSR_OP_Exp, TSR_BUILD(b, TSR_OP_Sub, x, most));
    int logs = tsr_build_with(b, TSR_OP_ReduceLogSum, 2, (int[]){parts, axes}, 2,
                              (tsr_attr[]){keeps, noop});
    int sums = TSR_BUILD(b, TSR_OP_Add, logs, most);
    if (b->status == TSR_OK)
        TSR_BUILD(b, TSR_OP_Reshape, sums,
                  tsr_add_shape(b->graph, node->name, &tsr_node_out(b->graph, node, 0)->shape));
}

static void decompose_pow(tsr_builder *b) {
    const int *inputs = b->node->inputs;
    TSR_BUILD(b, TSR_OP_Pow, inputs[0], tsr_build_cast_like(b, inputs[1], inputs[0]));
}

static void decompose(tsr_builder *b) {
    if (b->node->op == TSR_OP_Clip)
        decompose_clip(b);
    else if (b->node->op == TSR_OP_Pow)
        decompose_pow(b);
    else if (b->node->op == TSR_OP_ReduceLogSumExp)
        decompose_log_sum_exp(b);
    else if (tsr_sums_integers(b->node))
        tsr_split_sums(b);
    else
        decompose_nary(b);
    tsr_build_end(b);
}

tsr_status tsr_pass_decompose(tsr_graph *graph) {
    const bool *exact_reads = tsr_find_exact_reads(graph);
    if (!exact_reads)
        return TSR_ERROR_OUT_OF_MEMORY;
    double bytes = INFINITY; /* as many nodes and constants as a file has */
    tsr_node_list list = {.graph = graph, .may_make = INT_MAX, .bytes = &bytes};
    for (int n = 0; n < graph->node_count; n++) {
        tsr_builder b = {.graph = graph, .node = &graph->nodes[n], .list = &list};
        if (is_replaced(graph, b.node, exact_reads)) {
            decompose(&b);
            TSR_TRY(b.status);
            continue;
        }
        tsr_keep_precise(graph, b.node);
        TSR_TRY(tsr_append_copy(&list, b.node));
    }
    graph->nodes = list.nodes;
    graph->node_count = list.count;
    tsr_remove_dropped(graph);
    return TSR_OK;
}
