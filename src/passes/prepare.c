#include "passes/functions.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>

/* Nodes that functions make of a model in all: sequences are computed step by step. */
enum { MAX_FUNCTION_NODES = 1 << 17 };

static tsr_status append_function(tsr_node_list *list, const tsr_node *node) {
    tsr_builder b = {.graph = list->graph, .node = node, .list = list};
    if (node->op != TSR_OP_FunctionCall) /* what it is replaced by may not read all of its inputs */
        b.status = tsr_check_input_shapes(list->graph, node);
    if (b.status == TSR_OK)
        tsr_build_function(&b);
    if (b.status == TSR_OK || b.told)
        return b.status;
    return tsr_fail_context(b.status, "%s: node '%s' (%s)", list->graph->file, node->name,
                            tsr_node_op_name(node));
}

/* Function operators are replaced; shapes of inputs are known. */
static tsr_status append(tsr_node_list *list, const tsr_node *node) {
    int first = list->count;
    TSR_TRY(tsr_is_function(list->graph, node) ? append_function(list, node)
                                               : tsr_append_copy(list, node));
    tsr_use_node_list(list, first);
    return TSR_OK;
}

static tsr_status append_computed(tsr_node_list *list, const tsr_node *node) {
    int first = list->count;
    TSR_TRY(append(list, node));
    for (int n = first; n < list->count; n++) {
        tsr_node *made = &list->nodes[n];
        if (tsr_is_dropped(made)) /* folded already: it is of a body */
            continue;
        TSR_TRY(tsr_infer_node(list->graph, made));
        TSR_TRY(tsr_fold_node(list->graph, made, list->folding));
    }
    return TSR_OK;
}

/* ---- function operators that stay as they are ---- */

/* Calls of the model's functions are replaced, an If whose condition is known, and Gradient, which
 * names tensors that may go. */
static bool stays(const tsr_graph *graph, const tsr_node *node) {
    if (node->op == TSR_OP_FunctionCall || node->op == TSR_OP_Gradient)
        return false;
    bool decided = node->op == TSR_OP_If && tsr_node_in(graph, node, 0)->data;
    return tsr_is_function(graph, node) && !decided;
}

static bool has_constant_outputs(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (tsr_node_out(graph, node, i) && !tsr_node_out(graph, node, i)->data)
            return false;
    return true;
}

/* What it is replaced by tells the types and shapes of its outputs, and whether they are
 * constant. */
static tsr_status append_function_itself(tsr_node_list *list, const tsr_node *node) {
    tsr_graph *graph = list->graph;
    int first = list->count, may_make = list->may_make;
    double bytes = list->folding->bytes, work = list->folding->work;
    TSR_TRY(append_computed(list, node));
    if (has_constant_outputs(graph, node) && !tsr_is_random(graph, node))
        return TSR_OK;
    for (int n = first; n < list->count; n++)
        tsr_drop_node(graph, &list->nodes[n]);
    for (int i = 0; i < node->output_count; i++)
        if (tsr_node_out(graph, node, i))
            tsr_node_out(graph, node, i)->data = NULL;
    list->count = first;
    list->may_make = may_make;
    list->folding->bytes = bytes;
    list->folding->work = work;
    TSR_TRY(tsr_append_copy(list, node));
    tsr_use_node_list(list, first);
    return TSR_OK;
}

tsr_status tsr_append_prepared(tsr_node_list *list, const tsr_node *node) {
    return list->folding->exports && stays(list->graph, node) ? append_function_itself(list, node)
                                                              : append_computed(list, node);
}

/* Where bodies' values are while they are copied: each has its own place until then. */
static int *make_places(const tsr_graph *graph) {
    int *places = TSR_NEW(graph->arena, graph->value_count, int);
    for (int v = 0; places && v < graph->value_count; v++)
        places[v] = v;
    return places;
}

/* ---- late nodes ---- */

static tsr_status begin_late(const tsr_graph *graph, tsr_late_nodes *late) {
    *late = (tsr_late_nodes){.output_count = graph->output_count,
                             .outputs = graph->outputs,
                             .nodes = TSR_NEW(graph->arena, graph->node_count, tsr_node),
                             .inputs = TSR_NEW(graph->arena, graph->value_count, int),
                             .is_late = TSR_NEW(graph->arena, graph->value_count, bool)};
    return late->nodes && late->inputs && late->is_late ? TSR_OK : tsr_out_of_memory(graph);
}

static bool reads_late(const tsr_late_nodes *late, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] != TSR_NONE && late->is_late[node->inputs[i]])
            return true;
    return false;
}

static void add_late(tsr_graph *graph, const tsr_node *node, tsr_late_nodes *late) {
    late->nodes[late->node_count++] = *node;
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE) {
            late->is_late[node->outputs[i]] = true;
            graph->values[node->outputs[i]].producer = TSR_NONE;
        }
}

/* Those that an output needs. */
static tsr_status keep_needed(const tsr_graph *graph, tsr_late_nodes *late) {
    bool *needed = TSR_NEW(graph->arena, graph->value_count, bool);
    if (!needed)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < late->output_count; i++)
        needed[late->outputs[i]] = true;
    int first = late->node_count;
    for (int n = late->node_count - 1; n >= 0; n--) {
        const tsr_node *node = &late->nodes[n];
        bool is_needed = false;
        for (int i = 0; i < node->output_count; i++)
            is_needed |= node->outputs[i] != TSR_NONE && needed[node->outputs[i]];
        if (!is_needed)
            continue;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE)
                needed[node->inputs[i]] = true;
        late->nodes[--first] = *node;
    }
    late->node_count -= first;
    late->nodes += first;
    return TSR_OK;
}

/* The graph's outputs are what it computes of them, and what late nodes read. */
static tsr_status end_late(tsr_graph *graph, tsr_late_nodes *late) {
    if (late->node_count == 0)
        return TSR_OK;
    TSR_TRY(keep_needed(graph, late));
    bool *listed = TSR_NEW(graph->arena, graph->value_count, bool),
         *taken = TSR_NEW(graph->arena, graph->value_count, bool);
    int *outputs = TSR_NEW(graph->arena, graph->value_count, int), count = 0;
    if (!listed || !taken || !outputs)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < late->output_count; i++)
        if (!late->is_late[late->outputs[i]]) {
            outputs[count++] = late->outputs[i];
            listed[late->outputs[i]] = true;
        }
    for (int n = 0; n < late->node_count; n++)
        for (int i = 0; i < late->nodes[n].input_count; i++) {
            int v = late->nodes[n].inputs[i];
            if (v == TSR_NONE || late->is_late[v] || graph->values[v].data || taken[v])
                continue;
            taken[v] = true;
            late->inputs[late->input_count++] = v;
            if (!listed[v])
                outputs[count++] = v;
        }
    graph->outputs = outputs;
    graph->output_count = count;
    return TSR_OK;
}

/* What was appended before a failure is dropped. Late nodes lack tensors that Gradient names. */
static tsr_status prepare_node(tsr_node_list *list, const tsr_node *node, tsr_late_nodes *late) {
    int first = list->count;
    if (node->op == TSR_OP_Gradient)
        late = NULL;
    bool is_late = late && reads_late(late, node);
    tsr_status status = is_late ? TSR_OK : tsr_append_prepared(list, node);
    if (status != TSR_OK && late && status == TSR_ERROR_UNSUPPORTED && tsr_failed_until_run()) {
        is_late = true;
        list->count = list->graph->node_count = first;
        status = TSR_OK;
    }
    if (is_late)
        add_late(list->graph, node, late);
    return status;
}

/* ---- */

/* Dropout has no mask but a constant one. */
static tsr_status check_masks(const tsr_graph *graph) {
    for (int n = 0; n < graph->node_count && !graph->is_exported; n++) {
        const tsr_node *node = &graph->nodes[n];
        if (node->op == TSR_OP_Dropout && node->output_count > 1)
            return tsr_fail(
                TSR_ERROR_UNSUPPORTED,
                "%s: node '%s' (Dropout): the mask of shape %s is too large for a constant",
                graph->file, node->name, tsr_shape_text(&tsr_node_out(graph, node, 1)->shape));
    }
    return TSR_OK;
}

static tsr_status prepare(tsr_graph *graph, tsr_folding *folding, tsr_late_nodes *late) {
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    tsr_node_list list = {.graph = graph,
                          .source = nodes,
                          .source_count = count,
                          .source_values = graph->value_count,
                          .may_make = MAX_FUNCTION_NODES,
                          .bytes = &folding->bytes,
                          .folding = folding,
                          .places = make_places(graph)};
    if (!list.places)
        return tsr_out_of_memory(graph);
    if (late)
        TSR_TRY(begin_late(graph, late));
    for (int n = 0; n < count; n++)
        TSR_TRY(prepare_node(&list, &nodes[n], late));
    graph->node_count = list.count; /* of a graph without nodes, too */
    if (late)
        TSR_TRY(end_late(graph, late));
    tsr_remove_dropped(graph);
    folding->nodes_before = list.count;
    TSR_TRY(tsr_pass_remove_dead(graph));
    return check_masks(graph);
}

/* By value: what a GPU, or a function operator, needs to be constant, and what that is computed
 * from. NULL when out of memory. */
static const bool *find_needed(const tsr_graph *graph) {
    enum { PARAMETERS = 32 }; /* bits of tsr_op_info.parameters */
    bool *needed = TSR_NEW(graph->arena, graph->value_count, bool);
    for (int n = graph->node_count - 1; needed && n >= 0; n--) {
        const tsr_node *node = &graph->nodes[n];
        unsigned parameters = tsr_op_get_info(node->op)->parameters;
        bool all = tsr_is_function(graph, node);
        for (int i = 0; i < node->output_count; i++)
            all |= node->outputs[i] != TSR_NONE && needed[node->outputs[i]];
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE && (all || (i < PARAMETERS && parameters >> i & 1)))
                needed[node->inputs[i]] = true;
    }
    return needed;
}

tsr_status tsr_prepare_to_export(tsr_graph *graph, tsr_eval_fn eval, tsr_late_nodes *late) {
    tsr_folding folding;
    TSR_TRY(tsr_folding_begin_export(graph, eval, &folding));
    return prepare(graph, &folding, late);
}

tsr_status tsr_prepare(tsr_graph *graph, tsr_eval_fn eval, tsr_late_nodes *late) {
    tsr_folding folding = tsr_folding_begin(graph, eval);
    return prepare(graph, &folding, late);
}

tsr_status tsr_prepare_for(tsr_graph *graph, tsr_eval_fn eval, tsr_optimizer *optimizer,
                           tsr_late_nodes *late) {
    tsr_folding folding = tsr_folding_begin(graph, eval);
    if (!optimizer->on[TSR_OPTIMIZER_fold_constants]) {
        folding.counted = graph->value_count;
        folding.needed = find_needed(graph);
        if (!folding.needed)
            return tsr_out_of_memory(graph);
    }
    TSR_TRY(prepare(graph, &folding, late));
    optimizer->nodes_before[TSR_OPTIMIZER_fold_constants] = folding.nodes_before;
    optimizer->nodes_after[TSR_OPTIMIZER_fold_constants] = graph->node_count;
    return TSR_OK;
}

tsr_status tsr_evaluate(tsr_graph *graph, tsr_eval_fn eval) {
    tsr_folding folding = {.eval = eval, .bytes = (double)graph->max_bytes, .work = INFINITY};
    TSR_TRY(prepare(graph, &folding, NULL));
    for (int i = 0; i < graph->output_count; i++) {
        const tsr_value *value = &graph->values[graph->outputs[i]];
        if (!value->data && tsr_shape_count(&value->shape) != 0)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                            "%s: tensor '%s' %s and what it is computed from need more than "
                            "max_bytes, %llu",
                            graph->file, value->name, tsr_shape_text(&value->shape),
                            (unsigned long long)graph->max_bytes);
    }
    return TSR_OK;
}
