/* What is trained. */
#include "api/trainer.h"

#include <string.h>

#include "base/error.h"
#include "passes/edit.h"

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
                                  .tensor = TSR_NONE,
                                  .constant = value,
                                  .initial = graph->values[value].data};
    graph->values[value].data = NULL;
    graph->values[value].model_constant = 0;
    return TSR_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

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
    case TSR_OP_DeformConv:
        return TSR_INPUTS(1, 1) | TSR_INPUTS(3, 3);
    case TSR_OP_RNN:
    case TSR_OP_GRU:
        return TSR_INPUTS(1, 3);
    case TSR_OP_LSTM:
        return TSR_INPUTS(1, 3) | TSR_INPUTS(7, 7);
    default:
        return 0;
    }
}

/* Nodes in their order, and those of bodies at the node that has them. */
typedef struct weight_search {
    tsr_training *training;
    const tsr_graph *graph;
    const tsr_node **makers; /* by value: the node that computes it; NULL: none so far */
} weight_search;

static bool keeps_elements(tsr_op op) {
    return tsr_op_has(op, TSR_IS_VIEW) || op == TSR_OP_Transpose || op == TSR_OP_Cast;
}

/* What a value is a view of, or transposed. */
static int find_origin(const weight_search *s, int value) {
    while (value != TSR_NONE && s->makers[value] && keeps_elements(s->makers[value]->op))
        value = s->makers[value]->inputs[0];
    return value;
}

/* A vector that is added to a MatMul's result is its bias. */
static bool is_bias(const weight_search *s, const tsr_node *node, int i, const tsr_value *origin) {
    int to = node->op == TSR_OP_Add ? node->inputs[1 - i] : TSR_NONE;
    return to != TSR_NONE && origin->shape.rank == 1 && s->makers[to] &&
           s->makers[to]->op == TSR_OP_MatMul;
}

static tsr_status take_weight(const weight_search *s, const tsr_node *node, int i) {
    int origin = find_origin(s, node->inputs[i]);
    const tsr_value *value = origin == TSR_NONE ? NULL : &s->graph->values[origin];
    if (!value || !value->data || !tsr_dtype_is_float(value->dtype) ||
        is_frozen(s->training, value->name))
        return TSR_OK;
    if (!((i < 32 && weight_inputs(node->op) >> i & 1) || is_bias(s, node, i, value)))
        return TSR_OK;
    if (value->dtype != TSR_DTYPE_F32)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "node '%s' (%s): its weight '%s' is %s, which is trained only where a "
                        "Cast to float32 of its own reads it: freeze it",
                        node->name, tsr_node_op_name(node), value->name,
                        tsr_dtype_name(value->dtype));
    return make_input(s->training, origin);
}

/* Has it a scale or a bias that is no constant? */
static bool is_trained_norm(const weight_search *s, const tsr_node *node) {
    if (node->op != TSR_OP_BatchNormalization)
        return false;
    for (int i = 1; i < 3; i++) {
        int origin = find_origin(s, node->inputs[i]);
        if (origin != TSR_NONE && !s->graph->values[origin].data)
            return true;
    }
    return false;
}

/* Before its inputs and bodies are searched. */
static tsr_status check_node(const tsr_node *node) {
    if (node->op != TSR_OP_FunctionCall)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "node '%s' calls a function of the model: training needs its nodes in its "
                    "place, as a model has them that was written with known sizes",
                    node->name);
}

static tsr_status check_norm(const weight_search *s, const tsr_node *node, bool in_body) {
    if (!in_body || !is_trained_norm(s, node))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "node '%s' (BatchNormalization) cannot be trained in the body of another "
                    "node: freeze its scale and bias",
                    node->name);
}

static tsr_status search_nodes(weight_search *s, const tsr_node *nodes, int count, bool in_body) {
    for (int n = 0; n < count; n++) {
        const tsr_node *node = &nodes[n];
        TSR_TRY(check_node(node));
        for (int i = 0; i < node->input_count; i++)
            TSR_TRY(take_weight(s, node, i));
        TSR_TRY(check_norm(s, node, in_body));
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] != TSR_NONE)
                s->makers[node->outputs[i]] = node;
        for (int a = 0; a < node->attr_count; a++) {
            const tsr_body *body = node->attrs[a].body;
            if (body)
                TSR_TRY(search_nodes(s, body->nodes, body->node_count, true));
        }
    }
    return TSR_OK;
}

static tsr_status find_weights(tsr_training *t, weight_search *s) {
    tsr_graph *graph = t->graph;
    const tsr_node **makers = TSR_NEW(graph->arena, graph->value_count, const tsr_node *);
    if (!makers)
        return tsr_out_of_memory(graph);
    *s = (weight_search){.training = t, .graph = graph, .makers = makers};
    TSR_TRY(search_nodes(s, graph->nodes, graph->node_count, false));
    t->model.parameter_count = t->state_count;
    if (t->model.parameter_count == 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no weight to be trained%s",
                        t->desc->freeze_count ? ": all are frozen" : "");
    return TSR_OK;
}

/* ---- BatchNormalization ---------------------------------------------------------------------- */

static bool is_replaced(const tsr_attr *attr) {
    return !strcmp(attr->name, "training_mode") || !strcmp(attr->name, "momentum");
}

/* Without momentum, so that outputs 1 and 2 are the batch's mean and variance. */
static tsr_status set_training_mode(tsr_graph *graph, tsr_node *node) {
    tsr_attr *attrs = TSR_NEW(graph->arena, node->attr_count + 2, tsr_attr);
    int *outputs = TSR_NEW(graph->arena, 3, int);
    if (!attrs || !outputs)
        return tsr_out_of_memory(graph);
    attrs[0] = tsr_int_attr("training_mode", 1);
    attrs[1] = (tsr_attr){.name = "momentum", .kind = TSR_ATTR_FLOAT};
    int count = 2;
    for (int i = 0; i < node->attr_count; i++)
        if (!is_replaced(&node->attrs[i]))
            attrs[count++] = node->attrs[i];
    node->attrs = attrs;
    node->attr_count = count;
    outputs[0] = node->outputs[0];
    for (int i = 1; i < 3; i++) {
        outputs[i] = tsr_add_value(graph, graph->values[node->inputs[2 + i]].name, "batch");
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
static tsr_status train_batch_norm(const weight_search *s, tsr_node *node) {
    tsr_training *t = s->training;
    if (!is_trained_norm(s, node))
        return TSR_OK;
    if (!has_statistics(t->graph, node))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "node '%s' (BatchNormalization): mean and variance have to be float32 "
                        "constants of their own",
                        node->name);
    float momentum = tsr_attr_float(node, "momentum", 0.9f);
    TSR_TRY(set_training_mode(t->graph, node));
    for (int i = 1; i < 3; i++) {
        TSR_TRY(make_input(t, node->inputs[2 + i]));
        tsr_training_state *state = &t->states[t->state_count - 1];
        state->part = 1 - momentum;
        state->batches[state->batch_count++] = node->outputs[i];
    }
    return TSR_OK;
}

tsr_status tsr_training_find_parameters(tsr_training *t) {
    weight_search search;
    TSR_TRY(check_patterns(t));
    TSR_TRY(find_weights(t, &search));
    for (int n = 0; n < t->graph->node_count; n++)
        TSR_TRY(train_batch_norm(&search, &t->graph->nodes[n]));
    t->model.count = t->state_count;
    return TSR_OK;
}
