/* What is trained. */
#include "api/trainer.h"

#include <string.h>

#include "base/error.h"
#include "passes/edit.h"

/* Inputs of an operator that are weights, as a mask. */
static unsigned weight_inputs(tsr_op op) {
    switch (op) {
    case TSR_OP_Conv:
    case TSR_OP_ConvTranspose:
    case TSR_OP_Gemm:
    case TSR_OP_BatchNormalization:
    case TSR_OP_InstanceNormalization:
    case TSR_OP_LayerNormalization:
    case TSR_OP_GroupNormalization:
        return TSR_INPUTS(1, 2);
    case TSR_OP_PRelu:
    case TSR_OP_RMSNormalization:
        return TSR_INPUTS(1, 1);
    case TSR_OP_MatMul:
        return TSR_INPUTS(0, 1);
    default:
        return 0;
    }
}

/* A vector that is added to a MatMul's result is its bias. */
static bool is_bias(const tsr_graph *graph, const tsr_node *node, int i) {
    if (node->op != TSR_OP_Add)
        return false;
    const tsr_value *added = tsr_node_in(graph, node, i), *to = tsr_node_in(graph, node, 1 - i);
    return added->shape.rank == 1 && to && to->producer != TSR_NONE &&
           graph->nodes[to->producer].op == TSR_OP_MatMul;
}

/* May the weight be trained, apart from its name? */
static bool is_weight(const tsr_graph *graph, const tsr_node *node, int i) {
    const tsr_value *value = tsr_node_in(graph, node, i);
    return value && value->data && value->dtype == TSR_DTYPE_F32 &&
           ((i < 32 && weight_inputs(node->op) >> i & 1) || is_bias(graph, node, i));
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Pattern with * and ?. */
static bool matches(const char *pattern, const char *name) {
    const char *star = NULL, *tried = name;
    while (*name)
        if (*pattern == '*') {
            star = ++pattern;
            tried = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++tried;
        } else {
            return false;
        }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool is_frozen(const tsr_training *t, const char *name) {
    for (int i = 0; i < t->desc->freeze_count; i++)
        if (matches(t->desc->freeze[i], name))
            return true;
    return false;
}

static tsr_status check_patterns(const tsr_training *t) {
    for (int i = 0; i < t->desc->freeze_count; i++) {
        bool found = false;
        if (!t->desc->freeze[i])
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "freeze[%d] is NULL", i);
        for (int v = 0; v < t->graph->value_count && !found; v++)
            found =
                t->graph->values[v].data && matches(t->desc->freeze[i], t->graph->values[v].name);
        if (!found)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "no weight has a name like '%s'",
                            t->desc->freeze[i]);
    }
    return TSR_OK;
}

/* ---- weights of 16 bits -----------------------------------------------------------------------
 */

/* Their elements are floats in memory, too. */
static bool widens(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *in = node->op == TSR_OP_Cast ? tsr_node_in(graph, node, 0) : NULL;
    return in && in->data && (in->dtype == TSR_DTYPE_F16 || in->dtype == TSR_DTYPE_BF16) &&
           tsr_attr_int(node, "to", 0) == tsr_dtype_to_onnx(TSR_DTYPE_F32) &&
           !tsr_graph_is_output(graph, node->outputs[0]);
}

void tsr_training_widen(tsr_graph *graph) {
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        if (!widens(graph, node))
            continue;
        const tsr_value *in = tsr_node_in(graph, node, 0);
        tsr_value *out = tsr_node_out(graph, node, 0);
        out->data = in->data;
        out->shape = in->shape;
        out->dtype = TSR_DTYPE_F32;
        tsr_drop_node(graph, node);
    }
    tsr_remove_dropped(graph);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* A constant becomes an input of the step. */
static tsr_status make_input(tsr_training *t, int value) {
    tsr_graph *graph = t->graph;
    tsr_training_state *state = tsr_training_add_state(t);
    if (!state || !tsr_graph_copy_to_arena(graph, value) ||
        !tsr_graph_append(graph, &graph->inputs, &graph->input_count, value))
        return tsr_out_of_memory(graph);
    *state = (tsr_training_state){.before = value,
                                  .after = TSR_NONE,
                                  .constant = value,
                                  .initial = graph->values[value].data};
    graph->values[value].data = NULL;
    graph->values[value].model_constant = 0;
    return TSR_OK;
}

static tsr_status find_weights(tsr_training *t) {
    for (int n = 0; n < t->graph->node_count; n++) {
        const tsr_node *node = &t->graph->nodes[n];
        for (int i = 0; i < node->input_count; i++)
            if (is_weight(t->graph, node, i) && !is_frozen(t, tsr_node_in(t->graph, node, i)->name))
                TSR_TRY(make_input(t, node->inputs[i]));
    }
    t->parameter_count = t->state_count;
    if (t->parameter_count == 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no weight to be trained%s",
                        t->desc->freeze_count ? ": all are frozen" : "");
    return TSR_OK;
}

/* ---- BatchNormalization ---------------------------------------------------------------------- */

static tsr_status set_training_mode(tsr_graph *graph, tsr_node *node) {
    tsr_attr *attrs = TSR_NEW(graph->arena, node->attr_count + 1, tsr_attr);
    int *outputs = TSR_NEW(graph->arena, 3, int);
    if (!attrs || !outputs)
        return tsr_out_of_memory(graph);
    attrs[0] = tsr_int_attr("training_mode", 1);
    int count = 1;
    for (int i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, attrs[0].name) != 0)
            attrs[count++] = node->attrs[i];
    node->attrs = attrs;
    node->attr_count = count;
    outputs[0] = node->outputs[0];
    for (int i = 1; i < 3; i++) {
        outputs[i] = tsr_add_value(graph, graph->values[node->inputs[2 + i]].name, "next");
        if (outputs[i] == TSR_NONE)
            return TSR_ERROR_OUT_OF_MEMORY;
        graph->values[outputs[i]].producer = (int)(node - graph->nodes);
    }
    node->outputs = outputs;
    node->output_count = 3;
    return TSR_OK;
}

static bool has_statistics(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *mean = tsr_node_in(graph, node, 3), *variance = tsr_node_in(graph, node, 4);
    return mean && mean->data && mean->dtype == TSR_DTYPE_F32 && variance && variance->data &&
           variance->dtype == TSR_DTYPE_F32 && node->inputs[3] != node->inputs[4];
}

/* One whose scale and bias stay is computed with the statistics that it has. */
static tsr_status train_batch_norm(tsr_training *t, tsr_node *node) {
    tsr_graph *graph = t->graph;
    if (node->op != TSR_OP_BatchNormalization ||
        (tsr_node_in(graph, node, 1)->data && tsr_node_in(graph, node, 2)->data))
        return TSR_OK;
    if (!has_statistics(graph, node))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "node '%s' (BatchNormalization): mean and variance have to be float32 "
                        "constants of their own",
                        node->name);
    TSR_TRY(set_training_mode(graph, node));
    for (int i = 1; i < 3; i++) {
        TSR_TRY(make_input(t, node->inputs[2 + i]));
        t->states[t->state_count - 1].after = node->outputs[i];
    }
    return TSR_OK;
}

tsr_status tsr_training_find_parameters(tsr_training *t) {
    TSR_TRY(check_patterns(t));
    TSR_TRY(find_weights(t));
    for (int n = 0; n < t->graph->node_count; n++)
        TSR_TRY(train_batch_norm(t, &t->graph->nodes[n]));
    return TSR_OK;
}
