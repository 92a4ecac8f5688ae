/* The graph of a step. */
#include "api/trainer.h"

#include <limits.h>
#include <string.h>

#include "api/bind.h"
#include "base/error.h"
#include "cpu/cpu.h"
#include "passes/gradient.h"
#include "passes/recompute.h"

int tsr_training_add_input(tsr_training *t, const char *base, const char *suffix,
                           const tsr_shape *shape) {
    tsr_graph *graph = t->graph;
    int value = tsr_add_value(graph, base, suffix);
    if (value == TSR_NONE || !tsr_graph_append(graph, &graph->inputs, &graph->input_count, value)) {
        tsr_out_of_memory(graph);
        return TSR_NONE;
    }
    graph->values[value].dtype = TSR_DTYPE_F32;
    graph->values[value].shape = *shape;
    return value;
}

tsr_training_state *tsr_training_add_state(tsr_training *t) {
    enum { FIRST_ROOM = 64 };
    if (t->state_count == t->state_room) {
        int room = t->state_room ? 2 * t->state_room : FIRST_ROOM;
        tsr_training_state *states = TSR_NEW(t->graph->arena, room, tsr_training_state);
        if (!states) {
            tsr_out_of_memory(t->graph);
            return NULL;
        }
        if (t->state_count)
            memcpy(states, t->states, (size_t)t->state_count * sizeof *states);
        t->states = states;
        t->state_room = room;
    }
    return &t->states[t->state_count++];
}

/* A value, and what states become, as far as it is known. */
static tsr_status list_outputs(tsr_training *t, int first) {
    tsr_graph *graph = t->graph;
    graph->outputs = TSR_NEW(graph->arena, t->state_count + 2, int);
    if (!graph->outputs)
        return tsr_out_of_memory(graph);
    graph->outputs[0] = first;
    graph->output_count = 1;
    if (t->checked != TSR_NONE)
        graph->outputs[graph->output_count++] = t->checked;
    for (int i = 0; i < t->state_count; i++)
        if (t->states[i].after != TSR_NONE)
            graph->outputs[graph->output_count++] = t->states[i].after;
    return TSR_OK;
}

/* ---- the model's part ------------------------------------------------------------------------ */

static tsr_status check_inputs(const tsr_graph *graph) {
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_value *input = &graph->values[graph->inputs[i]];
        if (input->dtype != TSR_DTYPE_F32)
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "input '%s' is %s: those of a trainer are float32", input->name,
                            tsr_dtype_name(input->dtype));
    }
    return TSR_OK;
}

static tsr_status find_output(tsr_training *t) {
    tsr_graph *graph = t->graph;
    const char *name = t->desc->output;
    t->output = graph->output_count ? graph->outputs[0] : TSR_NONE;
    for (int i = 0; i < graph->output_count && name; i++)
        if (!strcmp(graph->values[graph->outputs[i]].name, name)) {
            t->output = graph->outputs[i];
            name = NULL;
        }
    if (name || t->output == TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the model has no output '%s'",
                        name ? name : "");
    TSR_TRY(list_outputs(t, t->output));
    return tsr_pass_remove_dead(graph);
}

static tsr_status add_mask(tsr_training *t, const tsr_node *node, float ratio, int *mask) {
    tsr_training_mask *masks = TSR_NEW(t->graph->arena, t->mask_count + 1, tsr_training_mask);
    *mask = masks ? tsr_training_add_input(t, node->name, "mask",
                                           &tsr_node_in(t->graph, node, 0)->shape)
                  : TSR_NONE;
    if (*mask == TSR_NONE)
        return tsr_out_of_memory(t->graph);
    if (t->mask_count)
        memcpy(masks, t->masks, (size_t)t->mask_count * sizeof *masks);
    masks[t->mask_count++] = (tsr_training_mask){*mask, ratio};
    t->masks = masks;
    return TSR_OK;
}

static tsr_status check_ratio(const tsr_graph *graph, const tsr_node *node, float *ratio) {
    const tsr_value *given = tsr_node_in(graph, node, 1);
    *ratio = 0.5f;
    if (given && given->data && tsr_shape_count(&given->shape) == 1)
        *ratio = *(const tsr_unaligned_float *)given->data;
    bool read = (given && !given->data) || tsr_node_out(graph, node, 1);
    if (!read && *ratio >= 0 && *ratio < 1)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "%s: node '%s' (Dropout): its ratio has to be a constant in [0, 1), and its "
                    "mask no output",
                    graph->file, node->name);
}

static tsr_status append_dropout(tsr_training *t, tsr_node_list *list, const tsr_node *node) {
    float ratio;
    int mask = TSR_NONE;
    TSR_TRY(check_ratio(t->graph, node, &ratio));
    if (ratio == 0)
        return tsr_append_copy(list, node);
    TSR_TRY(add_mask(t, node, ratio, &mask));
    tsr_builder b = {.graph = t->graph, .node = node, .list = list};
    TSR_BUILD(&b, TSR_OP_Mul, node->inputs[0], mask);
    tsr_build_end(&b);
    return b.status;
}

/* Dropouts drop. */
static tsr_status rewrite(tsr_training *t, double *bytes) {
    tsr_graph *graph = t->graph;
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    tsr_node_list list = {.graph = graph, .may_make = INT_MAX, .bytes = bytes};
    for (int n = 0; n < count; n++) {
        int first = list.count;
        TSR_TRY(nodes[n].op == TSR_OP_Dropout ? append_dropout(t, &list, &nodes[n])
                                              : tsr_append_copy(&list, &nodes[n]));
        tsr_use_node_list(&list, first);
    }
    return TSR_OK;
}

/* ---- what is added --------------------------------------------------------------------------- */

/* Nodes after those of the graph; the builder's constants are float32. */
static tsr_status build(tsr_training *t, double *bytes, const int *gradients) {
    tsr_graph *graph = t->graph;
    int like = t->loss == TSR_NONE ? t->output : t->loss;
    const tsr_node made = {.name = t->loss == TSR_NONE ? "loss" : "update",
                           .op = TSR_OP_Identity,
                           .input_count = 1,
                           .inputs = &like};
    tsr_node_list list = {.graph = graph,
                          .nodes = graph->nodes,
                          .count = graph->node_count,
                          .room = graph->node_count,
                          .may_make = INT_MAX,
                          .bytes = bytes};
    tsr_builder b = {.graph = graph, .node = &made, .list = &list};
    int first = list.count;
    if (gradients)
        tsr_training_build_updates(t, &b, gradients);
    else
        tsr_training_build_loss(t, &b);
    tsr_use_node_list(&list, first);
    return b.status;
}

static tsr_status check_output(const tsr_training *t) {
    const tsr_value *output = &t->graph->values[t->output];
    int64_t count = tsr_shape_count(&output->shape);
    bool has_classes = t->desc->loss != TSR_LOSS_CROSS_ENTROPY || output->shape.rank >= 2;
    if (output->dtype == TSR_DTYPE_F32 && count > 0 && has_classes)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "output '%s' of shape %s and type %s has no such loss",
                    output->name, tsr_shape_text(&output->shape), tsr_dtype_name(output->dtype));
}

static tsr_status add_loss(tsr_training *t, double *bytes) {
    const tsr_value output = t->graph->values[t->output];
    TSR_TRY(check_output(t));
    t->target = tsr_training_add_input(t, output.name, "target", &output.shape);
    if (t->target == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    return build(t, bytes, NULL);
}

static tsr_status add_updates(tsr_training *t, double *bytes) {
    tsr_graph *graph = t->graph;
    int count = t->parameter_count;
    int *parameters = TSR_NEW(graph->arena, count, int),
        *gradients = TSR_NEW(graph->arena, count, int);
    if (!parameters || !gradients)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < count; i++)
        parameters[i] = t->states[i].before;
    TSR_TRY(tsr_add_gradients(graph, tsr_cpu_eval, t->loss, count, parameters, gradients));
    return build(t, bytes, gradients);
}

tsr_status tsr_training_make(tsr_graph *graph, const tsr_trainer_desc *desc, tsr_training *t) {
    double bytes = (double)graph->max_bytes;
    *t = (tsr_training){.desc = desc,
                        .graph = graph,
                        .input_count = graph->input_count,
                        .target = TSR_NONE,
                        .loss = TSR_NONE,
                        .checked = TSR_NONE};
    for (int i = 0; i < TSR_TRAINING_NUMBERS; i++)
        t->numbers[i] = TSR_NONE;
    TSR_TRY(tsr_bind(graph, &(tsr_session_desc){.dims = desc->dims,
                                                .dim_count = desc->dim_count,
                                                .shapes = desc->shapes,
                                                .shape_count = desc->shape_count}));
    TSR_TRY(check_inputs(graph));
    TSR_TRY(find_output(t));
    TSR_TRY(tsr_training_find_parameters(t));
    TSR_TRY(list_outputs(t, t->output));
    TSR_TRY(tsr_prepare(graph, tsr_cpu_eval, NULL));
    TSR_TRY(rewrite(t, &bytes));
    TSR_TRY(add_loss(t, &bytes));
    int forward_count = graph->node_count;
    TSR_TRY(add_updates(t, &bytes));
    TSR_TRY(list_outputs(t, t->loss));
    if (desc->recompute)
        TSR_TRY(tsr_recompute(graph, forward_count));
    return tsr_pass_remove_dead(graph);
}
