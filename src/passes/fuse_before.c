/* Fuses cheap operators of one value into the nodes that read their result, which apply them as
 * they read: LeakyRelu before a strided convolution of a tensor that others read as it is, Relu
 * behind a Concat. Neither a pass nor a tensor is needed then. What the producer of the input can
 * do at no pass stays for tsr_pass_fuse_posts(). */
#include "passes/edit.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>

/* May texels be read through it? Cheap, and |f(x)| <= |x|: f(0) = 0 keeps padding right, and 16-bit
 * products (tsr_half_products) stay finite. */
static bool is_cheap(const tsr_before *before) {
    switch (before->op) {
    case TSR_OP_Relu:
    case TSR_OP_Neg:
        return true;
    case TSR_OP_LeakyRelu: /* compilers take 0 * x for 0, where x is NaN or infinite, too */
        return fabsf(before->param[0]) <= 1 && before->param[0] != 0;
    case TSR_OP_Clip:
        return before->param[0] <= 0 && before->param[1] >= 0;
    default:
        return false;
    }
}

/* Does src/plan/inplace_concat.c make slices of its operands, if textures allow it? */
static bool joins_tiles(const tsr_graph *graph, const tsr_node *concat) {
    int axis;
    const tsr_shape *shape = &tsr_node_out(graph, concat, 0)->shape;
    if (tsr_normalize_axis(tsr_attr_int(concat, "axis", 0), shape->rank, &axis) != TSR_OK)
        return false;
    bool whole = axis == 0 || (axis == 1 && shape->dim[0] == 1);
    for (int i = 0; i < concat->input_count - 1; i++)
        whole = whole && (axis == 0 || tsr_node_in(graph, concat, i)->shape.dim[1] % 4 == 0);
    return whole;
}

/* A Concat in place is no pass unless it has post-ops, which need a copy of every operand that is
 * read elsewhere, too, or that no pass writes. */
static bool copies_for_posts(const tsr_graph *graph, const tsr_node *node, const int *readers) {
    if (node->op != TSR_OP_Concat || !joins_tiles(graph, node))
        return false;
    for (int i = 0; i < node->input_count; i++)
        if (readers[node->inputs[i]] != 1 || tsr_node_in(graph, node, i)->producer == TSR_NONE)
            return true;
    return false;
}

/* Can the producer of the node's input apply it as a post-op, and needs no pass for that? */
static bool is_free_as_post(const tsr_graph *graph, const tsr_node *node, const int *readers) {
    int host = tsr_find_host(graph, node, 0, readers);
    return host != TSR_NONE && !copies_for_posts(graph, &graph->nodes[host], readers);
}

/* Can the node read its input 0 through an operator? Its other inputs are no result of that, nor
 * what that reads. */
static bool can_apply(const tsr_graph *graph, const tsr_node *node) {
    bool can = tsr_op_has(node->op, TSR_APPLIES_BEFORE) && !node->before;
    for (int i = 1; i < node->input_count && can; i++) {
        const tsr_value *in = tsr_node_in(graph, node, i);
        can = !in || in->data;
    }
    return can;
}

/* By value: how often nodes that can apply an operator before read it as their input 0. */
static int *count_appliers(const tsr_graph *graph) {
    int *count = TSR_NEW(graph->arena, graph->value_count, int);
    if (!count)
        return NULL;
    for (int n = 0; n < graph->node_count; n++)
        if (can_apply(graph, &graph->nodes[n]))
            count[graph->nodes[n].inputs[0]]++;
    return count;
}

/* What every reader of the node's result is to apply; NULL if the node stays. */
static tsr_status make_before(const tsr_graph *graph, const tsr_node *node, const int *readers,
                              const int *appliers, const tsr_before **before) {
    tsr_before made = {.op = node->op, .node_name = node->name};
    if (!tsr_op_has(node->op, TSR_IS_POST_OP) || node->post_count || node->output_count != 1)
        return TSR_OK;
    const tsr_value *in = tsr_node_in(graph, node, 0);
    made.value = node->outputs[0];
    if (!appliers[made.value] || appliers[made.value] != readers[made.value] || in->data ||
        !tsr_dtype_is_float(in->dtype) || (node->op != TSR_OP_Clip && node->input_count != 1))
        return TSR_OK;
    if (!tsr_read_unary(graph, node, made.param) || !is_cheap(&made) ||
        is_free_as_post(graph, node, readers))
        return TSR_OK;
    tsr_before *copy = TSR_NEW(graph->arena, 1, tsr_before);
    if (!copy)
        return tsr_out_of_memory(graph);
    *copy = made;
    *before = copy;
    return TSR_OK;
}

tsr_status tsr_pass_fuse_before(tsr_graph *graph) {
    const tsr_before **fused = TSR_NEW(graph->arena, graph->value_count, const tsr_before *);
    int *sources = TSR_NEW(graph->arena, graph->value_count, int), *readers, *appliers;
    if (!fused || !sources)
        return tsr_out_of_memory(graph);
    if (!(readers = tsr_count_readers(graph)))
        return TSR_ERROR_OUT_OF_MEMORY;
    if (!(appliers = count_appliers(graph)))
        return tsr_out_of_memory(graph);
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        const tsr_before *before = NULL;
        TSR_TRY(make_before(graph, node, readers, appliers, &before));
        if (before) {
            fused[before->value] = before;
            sources[before->value] = node->inputs[0];
            tsr_drop_node(graph, node);
        } else if (can_apply(graph, node) && fused[node->inputs[0]]) {
            node->before = fused[node->inputs[0]];
            node->inputs[0] = sources[node->inputs[0]];
        }
    }
    tsr_remove_dropped(graph);
    return TSR_OK;
}
