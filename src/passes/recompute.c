#include "passes/recompute.h"

#include "base/error.h"
#include "passes/build.h"

#include <math.h>

typedef struct recomputation {
    tsr_graph *graph;
    const tsr_node *nodes; /* before the pass */
    int node_count, forward_count, value_count;
    tsr_node_list list;
    int *segment; /* by forward node */
    bool *kept;   /* by value: it is not computed again */
    bool *needed; /* by value: what is appended next needs its copy */
    int *again;   /* by value: its copy; TSR_NONE: none yet */
} recomputation;

static uint64_t bytes_of(const tsr_value *value) {
    return (uint64_t)tsr_shape_count(&value->shape) * tsr_stored_size(value->dtype);
}

/* Is it rows of an input, as weights are of tensors that a trainer joined? They are there anyway.
 */
static bool is_part_of_input(const tsr_graph *graph, const tsr_node *node) {
    enum { STEPS = 4 };
    if (node->op != TSR_OP_Slice || node->input_count > STEPS)
        return false;
    const tsr_value *whole = &graph->values[node->inputs[0]], *part = tsr_node_out(graph, node, 0);
    for (int i = 1; i < whole->shape.rank; i++)
        if (part->shape.dim[i] != whole->shape.dim[i])
            return false;
    return whole->producer == TSR_NONE;
}

/* Of what the node computes. */
static uint64_t bytes_made(const tsr_graph *graph, const tsr_node *node) {
    uint64_t bytes = 0;
    if (is_part_of_input(graph, node))
        return 0;
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE)
            bytes += bytes_of(&graph->values[node->outputs[i]]);
    return bytes;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* As many bytes in each segment. There are the root of the number of layers, and the last one,
 * which is not computed again: its gradients come at once. */
static void cut(const recomputation *r) {
    double all = 0, before = 0;
    int layers = 0;
    for (int n = 0; n < r->forward_count; n++) {
        all += (double)bytes_made(r->graph, &r->nodes[n]);
        layers += tsr_node_macs(r->graph, &r->nodes[n]) > 0;
    }
    double count = 1 + round(sqrt(layers));
    for (int n = 0; n < r->forward_count; n++) {
        r->segment[n] = (int)(before / all * count);
        before += (double)bytes_made(r->graph, &r->nodes[n]);
    }
}

/* Results of reductions, such as the statistics of a batch, are small beside what is read for
 * them. */
static bool is_small(const tsr_graph *graph, const tsr_node *node) {
    enum { SMALL = 16 };
    const tsr_value *in = tsr_node_in(graph, node, 0);
    return in && bytes_made(graph, node) * SMALL <= bytes_of(in);
}

/* The forward node that computes the value; TSR_NONE: none does. */
static int forward_producer(const recomputation *r, int value) {
    int producer = value == TSR_NONE ? TSR_NONE : r->graph->values[value].producer;
    return producer < r->forward_count ? producer : TSR_NONE;
}

static void mark_kept(const recomputation *r) {
    const int last = r->segment[r->forward_count - 1];
    for (int n = 0; n < r->forward_count; n++) {
        const tsr_node *node = &r->nodes[n];
        bool keeps = r->segment[n] == last || is_small(r->graph, node);
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] != TSR_NONE)
                r->kept[node->outputs[i]] = keeps;
        for (int i = 0; i < node->input_count; i++) {
            int producer = forward_producer(r, node->inputs[i]);
            if (producer != TSR_NONE && r->segment[producer] != r->segment[n])
                r->kept[node->inputs[i]] = true;
        }
    }
    for (int i = 0; i < r->graph->output_count; i++)
        r->kept[r->graph->outputs[i]] = true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool is_copied(const recomputation *r, int value) {
    return forward_producer(r, value) != TSR_NONE && !r->kept[value];
}

static tsr_status copy_value(const recomputation *r, int value) {
    tsr_graph *graph = r->graph;
    int copy = tsr_add_value(graph, graph->values[value].name, "again");
    if (copy == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    const char *name = graph->values[copy].name;
    graph->values[copy] = graph->values[value];
    graph->values[copy].name = name;
    r->again[value] = copy;
    r->needed[value] = false;
    return TSR_OK;
}

/* Appends the node, which reads copies where there are. */
static tsr_status append(recomputation *r, const tsr_node *node) {
    TSR_TRY(tsr_append_copy(&r->list, node));
    tsr_node *copy = &r->list.nodes[r->list.count - 1];
    copy->inputs = TSR_NEW(r->graph->arena, node->input_count + 1, int);
    if (!copy->inputs)
        return tsr_out_of_memory(r->graph);
    for (int i = 0; i < node->input_count; i++)
        copy->inputs[i] =
            is_copied(r, node->inputs[i]) ? r->again[node->inputs[i]] : node->inputs[i];
    return TSR_OK;
}

static tsr_status append_again(recomputation *r, const tsr_node *node) {
    const char *name = tsr_arena_printf(r->graph->arena, "%s.again", node->name);
    int *outputs = TSR_NEW(r->graph->arena, node->output_count, int);
    if (!name || !outputs)
        return tsr_out_of_memory(r->graph);
    for (int i = 0; i < node->output_count; i++) {
        outputs[i] = node->outputs[i];
        if (outputs[i] == TSR_NONE)
            continue;
        TSR_TRY(copy_value(r, outputs[i]));
        outputs[i] = r->again[node->outputs[i]];
    }
    TSR_TRY(append(r, node));
    tsr_node *copy = &r->list.nodes[r->list.count - 1];
    copy->name = name;
    copy->outputs = outputs;
    copy->again = true;
    return TSR_OK;
}

static void need_inputs(const recomputation *r, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (is_copied(r, node->inputs[i]) && r->again[node->inputs[i]] == TSR_NONE)
            r->needed[node->inputs[i]] = true;
}

static bool is_needed(const recomputation *r, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && r->needed[node->outputs[i]])
            return true;
    return false;
}

/* Copies of a node and of those of its segment that it needs. */
static tsr_status append_chain(recomputation *r, int last) {
    int first = last;
    for (; first >= 0 && r->segment[first] == r->segment[last]; first--)
        if (is_needed(r, &r->nodes[first]))
            need_inputs(r, &r->nodes[first]);
    for (int n = first + 1; n <= last; n++)
        if (is_needed(r, &r->nodes[n]))
            TSR_TRY(append_again(r, &r->nodes[n]));
    return TSR_OK;
}

static tsr_status append_reader(recomputation *r, const tsr_node *node) {
    need_inputs(r, node);
    for (int i = 0; i < node->input_count; i++)
        if (is_copied(r, node->inputs[i]) && r->needed[node->inputs[i]])
            TSR_TRY(append_chain(r, forward_producer(r, node->inputs[i])));
    return append(r, node);
}

static tsr_status append_all(recomputation *r) {
    for (int n = 0; n < r->node_count; n++)
        TSR_TRY(n < r->forward_count ? tsr_append_copy(&r->list, &r->nodes[n])
                                     : append_reader(r, &r->nodes[n]));
    return TSR_OK;
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Inputs stay. */
static tsr_status find_peak(const tsr_graph *graph, uint64_t *bytes) {
    int *last_use = TSR_NEW(graph->arena, graph->value_count, int);
    uint64_t *change = TSR_NEW(graph->arena, graph->node_count + 1, uint64_t);
    if (!last_use || !change)
        return tsr_out_of_memory(graph);
    for (int v = 0; v < graph->value_count; v++)
        last_use[v] = TSR_NONE;
    tsr_graph_last_uses(graph, last_use);
    for (int i = 0; i < graph->input_count; i++)
        last_use[graph->inputs[i]] = graph->node_count;
    *bytes = tsr_graph_peak_bytes(graph, last_use, bytes_of, change);
    return TSR_OK;
}

/* Nodes as they were. */
static void undo(const recomputation *r) {
    const tsr_node_list before = {
        .graph = r->graph, .nodes = (tsr_node *)r->nodes, .count = r->node_count};
    tsr_use_node_list(&before, 0);
    for (int v = r->value_count; v < r->graph->value_count; v++)
        r->graph->values[v].producer = TSR_NONE;
}

tsr_status tsr_recompute(tsr_graph *graph, int forward_count) {
    recomputation r = {.graph = graph,
                       .nodes = graph->nodes,
                       .node_count = graph->node_count,
                       .forward_count = forward_count,
                       .value_count = graph->value_count,
                       .list = {.graph = graph},
                       .segment = TSR_NEW(graph->arena, forward_count, int),
                       .kept = TSR_NEW(graph->arena, graph->value_count, bool),
                       .needed = TSR_NEW(graph->arena, graph->value_count, bool),
                       .again = TSR_NEW(graph->arena, graph->value_count, int)};
    uint64_t before, after;
    if (!r.segment || !r.kept || !r.needed || !r.again)
        return tsr_out_of_memory(graph);
    for (int v = 0; v < graph->value_count; v++)
        r.again[v] = TSR_NONE;
    TSR_TRY(find_peak(graph, &before));
    cut(&r);
    mark_kept(&r);
    TSR_TRY(append_all(&r));
    tsr_use_node_list(&r.list, 0);
    TSR_TRY(find_peak(graph, &after));
    if (after >= before)
        undo(&r);
    return TSR_OK;
}
