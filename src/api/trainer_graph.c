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
        tsr_training_tensor *tensors = TSR_NEW(t->graph->arena, room, tsr_training_tensor);
        if (!states || !tensors) {
            tsr_out_of_memory(t->graph);
            return NULL;
        }
        if (t->state_count)
            memcpy(states, t->states, (size_t)t->state_count * sizeof *states);
        if (t->tensor_count)
            memcpy(tensors, t->tensors, (size_t)t->tensor_count * sizeof *tensors);
        t->states = states;
        t->tensors = tensors;
        t->state_room = room;
    }
    return &t->states[t->state_count++];
}

int tsr_training_add_own_state(tsr_training *t, int of, const char *suffix,
                               const tsr_shape *shape) {
    int before = tsr_training_add_input(t, t->graph->values[of].name, suffix, shape);
    tsr_training_state *state = before == TSR_NONE ? NULL : tsr_training_add_state(t);
    if (!state)
        return TSR_NONE;
    *state = (tsr_training_state){
        .before = before, .after = TSR_NONE, .constant = TSR_NONE, .tensor = t->tensor_count};
    t->tensors[t->tensor_count++] = (tsr_training_tensor){before, TSR_NONE};
    return t->state_count - 1;
}

void tsr_training_set_after(tsr_training *t, int state, int after) {
    t->states[state].after = t->tensors[t->states[state].tensor].after = after;
}

/* There is room for it. */
static void add_output(tsr_graph *graph, int value) {
    if (value != TSR_NONE && !tsr_graph_is_output(graph, value))
        graph->outputs[graph->output_count++] = value;
}

/* What has been made so far: the loss, or the outputs that it is to be of, and what states
 * become. */
static tsr_status list_outputs(tsr_training *t) {
    tsr_graph *graph = t->graph;
    graph->outputs = TSR_NEW(graph->arena, t->term_count + 2 * t->state_count + 2, int);
    if (!graph->outputs)
        return tsr_out_of_memory(graph);
    graph->output_count = 0;
    add_output(graph, t->losses);
    for (int i = 0; i < t->term_count && t->losses == TSR_NONE; i++)
        add_output(graph, t->terms[i].output);
    add_output(graph, t->checked);
    for (int i = 0; i < t->state_count; i++)
        if (t->states[i].after == TSR_NONE && t->states[i].batch_count)
            add_output(graph, t->states[i].batches[0]);
    for (int i = 0; i < t->tensor_count; i++)
        add_output(graph, t->tensors[i].after);
    return TSR_OK;
}

/* ---- the model's part ------------------------------------------------------------------------ */

tsr_status tsr_training_check_inputs(const tsr_graph *graph) {
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_value *input = &graph->values[graph->inputs[i]];
        if (input->dtype != TSR_DTYPE_F32)
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "input '%s' is %s: those of a trainer are float32", input->name,
                            tsr_dtype_name(input->dtype));
    }
    return TSR_OK;
}

static tsr_status find_output(const tsr_graph *graph, const char *name, int *output) {
    for (int i = 0; i < graph->output_count; i++)
        if (!name || !strcmp(graph->values[graph->outputs[i]].name, name)) {
            *output = graph->outputs[i];
            return TSR_OK;
        }
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the model has no output '%s'", name ? name : "");
}

static tsr_status make_terms(tsr_training *t) {
    const tsr_trainer_desc *d = t->desc;
    t->terms = TSR_NEW(t->graph->arena, d->loss_count, tsr_training_term);
    if (!t->terms)
        return tsr_out_of_memory(t->graph);
    t->term_count = d->loss_count;
    for (int i = 0; i < d->loss_count; i++) {
        tsr_training_term *term = &t->terms[i];
        *term = (tsr_training_term){.loss = d->losses[i].loss,
                                    .weight = d->losses[i].weight,
                                    .range = d->losses[i].range,
                                    .given = TSR_NONE,
                                    .scored = TSR_NONE};
        TSR_TRY(find_output(t->graph, d->losses[i].output, &term->output));
    }
    TSR_TRY(list_outputs(t));
    return tsr_pass_remove_dead(t->graph);
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

tsr_status tsr_training_apply_dropout(tsr_training *t) {
    tsr_graph *graph = t->graph;
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    tsr_node_list list = {.graph = graph, .may_make = INT_MAX, .bytes = &t->bytes};
    for (int n = 0; n < count; n++) {
        int first = list.count;
        TSR_TRY(nodes[n].op == TSR_OP_Dropout ? append_dropout(t, &list, &nodes[n])
                                              : tsr_append_copy(&list, &nodes[n]));
        tsr_use_node_list(&list, first);
    }
    return TSR_OK;
}

/* ---- what is added --------------------------------------------------------------------------- */

tsr_status tsr_training_append(tsr_training *t, const char *name, tsr_training_part *part,
                               void *context) {
    tsr_graph *graph = t->graph;
    const tsr_node made = {
        .name = name, .op = TSR_OP_Identity, .input_count = 1, .inputs = &t->terms[0].output};
    tsr_node_list list = {.graph = graph,
                          .nodes = graph->nodes,
                          .count = graph->node_count,
                          .room = graph->node_count,
                          .may_make = INT_MAX,
                          .bytes = &t->bytes};
    tsr_builder b = {.graph = graph, .node = &made, .list = &list};
    int first = list.count;
    part(t, &b, context);
    tsr_use_node_list(&list, first);
    return b.status;
}

static bool has_loss(const tsr_value *output, tsr_loss loss) {
    if (output->dtype != TSR_DTYPE_F32 || tsr_shape_count(&output->shape) == 0)
        return false;
    return (loss != TSR_LOSS_CROSS_ENTROPY || output->shape.rank >= 2) &&
           (loss != TSR_LOSS_SSIM || output->shape.rank == 4);
}

static tsr_status check_output(const tsr_training *t, const tsr_training_term *term) {
    const tsr_value *output = &t->graph->values[term->output];
    const int64_t *dim = output->shape.dim;
    if (!has_loss(output, term->loss))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "output '%s' of shape %s and type %s has no such loss", output->name,
                        tsr_shape_text(&output->shape), tsr_dtype_name(output->dtype));
    if (term->loss == TSR_LOSS_SSIM && (dim[2] < TSR_SSIM_WINDOW || dim[3] < TSR_SSIM_WINDOW))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "output '%s' of shape %s is smaller than SSIM's windows of %d x %d pixels",
                        output->name, tsr_shape_text(&output->shape), TSR_SSIM_WINDOW,
                        TSR_SSIM_WINDOW);
    return TSR_OK;
}

static tsr_status add_targets(tsr_training *t) {
    for (int i = 0; i < t->term_count; i++) {
        tsr_training_term *term = &t->terms[i];
        TSR_TRY(check_output(t, term));
        const tsr_value output = t->graph->values[term->output];
        term->given = tsr_training_add_input(t, output.name, "target", &output.shape);
        if (term->given == TSR_NONE)
            return TSR_ERROR_OUT_OF_MEMORY;
    }
    return TSR_OK;
}

static void build_loss(tsr_training *t, tsr_builder *b, void *unused) {
    (void)unused;
    tsr_training_build_loss(t, b);
}

typedef struct updates {
    const tsr_training_group *group;
    int loss;
    int *gradients;
} updates;

static void build_updates(tsr_training *t, tsr_builder *b, void *context) {
    const updates *u = context;
    tsr_training_build_updates(t, b, u->group, u->loss, u->gradients);
}

tsr_status tsr_training_add_updates(tsr_training *t, const tsr_training_group *group, int loss,
                                    int held_count, const int *held) {
    tsr_graph *graph = t->graph;
    int count = group->parameter_count;
    int *parameters = TSR_NEW(graph->arena, count, int),
        *gradients = TSR_NEW(graph->arena, count, int);
    if (!parameters || !gradients)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < count; i++)
        parameters[i] = t->states[group->first + i].before;
    const tsr_gradient_request request = {.loss = loss,
                                          .wrt_count = count,
                                          .wrt = parameters,
                                          .held_count = held_count,
                                          .held = held};
    TSR_TRY(tsr_add_gradients(graph, tsr_cpu_eval, &request, gradients));
    return tsr_training_append(t, "update", build_updates, &(updates){group, loss, gradients});
}

/* The model learns by what the discriminator has become, not by how it became that. */
static tsr_status update_model(tsr_training *t) {
    const tsr_training_group *discriminator = &t->discriminator;
    int count = discriminator->parameter_count, *held = TSR_NEW(t->graph->arena, count + 1, int);
    if (!held)
        return tsr_out_of_memory(t->graph);
    for (int i = 0; i < count; i++)
        held[i] = t->states[discriminator->first + i].after;
    return tsr_training_add_updates(t, &t->model, t->loss, count, held);
}

static void build_averages(tsr_training *t, tsr_builder *b, void *unused) {
    (void)unused;
    tsr_training_build_averages(t, b);
}

static void augment_targets(tsr_training *t, tsr_builder *b, void *unused) {
    (void)unused;
    tsr_training_augment_targets(t, b);
}

/* What the last node computes; TSR_NONE: nothing. */
static int last_result(const tsr_graph *graph) {
    const tsr_node *node = &graph->nodes[graph->node_count - 1];
    int i = 0;
    while (i < node->output_count && node->outputs[i] == TSR_NONE)
        i++;
    return i < node->output_count ? node->outputs[i] : TSR_NONE;
}

/* What follows after the model was prepared. */
static tsr_status add_step(tsr_training *t, tsr_graph *discriminator) {
    TSR_TRY(tsr_training_augment_inputs(t));
    TSR_TRY(tsr_training_apply_dropout(t));
    TSR_TRY(add_targets(t));
    TSR_TRY(tsr_training_append(t, "augmentation", augment_targets, NULL));
    const int last = last_result(t->graph);
    if (discriminator)
        TSR_TRY(tsr_training_add_discriminator(t, discriminator));
    int forward_count = last == TSR_NONE ? 0 : t->graph->values[last].producer + 1;
    TSR_TRY(tsr_training_append(t, "loss", build_loss, NULL));
    if (!discriminator)
        forward_count = t->graph->node_count;
    TSR_TRY(update_model(t));
    if (t->desc->average_decay > 0)
        TSR_TRY(tsr_training_append(t, "average", build_averages, NULL));
    TSR_TRY(list_outputs(t));
    if (t->desc->recompute)
        TSR_TRY(tsr_recompute(t->graph, forward_count));
    return tsr_pass_remove_dead(t->graph);
}

tsr_status tsr_training_make(tsr_graph *graph, tsr_graph *discriminator,
                             const tsr_trainer_desc *desc, tsr_training *t) {
    *t = (tsr_training){.desc = desc,
                        .graph = graph,
                        .bytes = (double)graph->max_bytes,
                        .input_count = graph->input_count,
                        .adversarial = TSR_NONE,
                        .discriminator_loss = TSR_NONE,
                        .loss = TSR_NONE,
                        .losses = TSR_NONE,
                        .checked = TSR_NONE,
                        .average = TSR_NONE};
    for (int i = 0; i < TSR_TRAINING_NUMBERS; i++)
        t->numbers[i] = TSR_NONE;
    for (int i = 0; i < TSR_AUGMENTATION_NUMBERS; i++)
        t->augmentation[i] = TSR_NONE;
    TSR_TRY(tsr_bind(graph, &(tsr_session_desc){.dims = desc->dims,
                                                .dim_count = desc->dim_count,
                                                .shapes = desc->shapes,
                                                .shape_count = desc->shape_count}));
    TSR_TRY(tsr_training_check_inputs(graph));
    TSR_TRY(make_terms(t));
    TSR_TRY(tsr_training_find_parameters(t));
    TSR_TRY(list_outputs(t));
    TSR_TRY(tsr_prepare(graph, tsr_cpu_eval, NULL));
    TSR_TRY(tsr_training_join(t, &t->model));
    return add_step(t, discriminator);
}
