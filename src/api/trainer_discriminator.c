/* A step of the discriminator: its nodes are in the step's graph three times, for targets, for
 * outputs and, by what its weights have become, for outputs again. */
#include "api/trainer.h"

#include <string.h>

#include "api/bind.h"
#include "api/session.h"
#include "base/error.h"
#include "cpu/cpu.h"
#include "passes/import.h"

/* own: of the discriminator's graph alone. Values of the step's graph that stand for its values:
 * shared by all copies, and of a copy. */
typedef struct adversary {
    tsr_training *step;
    tsr_training own;
    int input_count, logits;
    int *shared, *places;
    int real, fake; /* the step's values of what it has made of them */
} adversary;

/* ---- its own graph --------------------------------------------------------------------------- */

static tsr_status check_input_count(const adversary *a) {
    const tsr_graph *own = a->own.graph;
    if (own->input_count == 1 || own->input_count == a->step->input_count + 1)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: a discriminator has %d inputs, those of the model and a picture, or 1, "
                    "the picture; not %d",
                    own->file, a->step->input_count + 1, own->input_count);
}

/* What the step's graph has for input i. */
static int input_place(const adversary *a, int i, int picture) {
    return i == a->input_count - 1 ? picture : a->step->seen[i];
}

static tsr_status bind_inputs(adversary *a) {
    tsr_graph *own = a->own.graph;
    a->input_count = own->input_count;
    tsr_input_shape *shapes = TSR_NEW(own->arena, own->input_count, tsr_input_shape);
    if (!shapes)
        return tsr_out_of_memory(own);
    for (int i = 0; i < own->input_count; i++) {
        int place = input_place(a, i, a->step->terms[0].output);
        shapes[i] = (tsr_input_shape){own->values[own->inputs[i]].name,
                                      a->step->graph->values[place].shape};
    }
    TSR_TRY(tsr_bind(own, &(tsr_session_desc){.shapes = shapes, .shape_count = own->input_count}));
    return tsr_training_check_inputs(own);
}

static tsr_status find_logits(adversary *a) {
    const tsr_graph *own = a->own.graph;
    const tsr_value *output = &own->values[own->outputs[0]];
    if (output->dtype != TSR_DTYPE_F32 || tsr_shape_count(&output->shape) == 0)
        return tsr_fail(
            TSR_ERROR_UNSUPPORTED, "output '%s' of shape %s and type %s is none of a discriminator",
            output->name, tsr_shape_text(&output->shape), tsr_dtype_name(output->dtype));
    a->logits = own->outputs[0];
    return a->step->desc->adversarial == TSR_ADVERSARIAL_CROSS_ENTROPY
               ? tsr_training_find_logits(own, own->outputs[0], TSR_OP_Sigmoid, &a->logits)
               : TSR_OK;
}

static tsr_status keep_outputs(adversary *a) {
    tsr_graph *own = a->own.graph;
    int output = own->outputs[0];
    own->outputs = TSR_NEW(own->arena, a->own.state_count + 1, int);
    if (!own->outputs)
        return tsr_out_of_memory(own);
    own->output_count = 0;
    own->outputs[own->output_count++] = output;
    for (int i = a->own.model.parameter_count; i < a->own.state_count; i++)
        own->outputs[own->output_count++] = a->own.states[i].batches[0];
    return TSR_OK;
}

static tsr_status prepare_own(adversary *a) {
    tsr_graph *own = a->own.graph;
    TSR_TRY(check_input_count(a));
    TSR_TRY(bind_inputs(a));
    TSR_TRY(keep_outputs(a));
    TSR_TRY(tsr_pass_remove_dead(own));
    TSR_TRY(tsr_training_find_parameters(&a->own));
    TSR_TRY(keep_outputs(a));
    TSR_TRY(tsr_prepare(own, tsr_cpu_eval, NULL));
    return find_logits(a);
}

/* ---- in the step's graph --------------------------------------------------------------------- */

/* Its states become the step's. */
static tsr_status take_states(adversary *a) {
    tsr_training *t = a->step;
    t->discriminator = a->own.model;
    t->discriminator.first = t->state_count;
    for (int i = 0; i < a->own.state_count; i++) {
        const tsr_training_state *own = &a->own.states[i];
        const tsr_value *value = &a->own.graph->values[own->before];
        int before = tsr_training_add_input(t, value->name, "discriminator", &value->shape);
        tsr_training_state *state = before == TSR_NONE ? NULL : tsr_training_add_state(t);
        if (!state)
            return TSR_ERROR_OUT_OF_MEMORY;
        *state = *own;
        state->before = before;
        state->batch_count = 0;
    }
    TSR_TRY(tsr_training_join(t, &t->discriminator));
    return t->desc->spectral_norm ? tsr_training_find_spectral(t, a->own.graph, a->own.states)
                                  : TSR_OK;
}

/* What the step's states are now, and normalized weights. */
static void place_states(adversary *a) {
    const tsr_training *t = a->step;
    const tsr_training_state *states = &t->states[t->discriminator.first];
    for (int i = 0; i < a->own.state_count; i++)
        a->places[a->own.states[i].before] =
            states[i].after == TSR_NONE ? states[i].before : states[i].after;
    for (int i = 0; i < t->spectral_count; i++) {
        const tsr_spectral_norm *norm = &t->spectral[i];
        int own = norm->parameter - t->discriminator.first;
        a->places[a->own.states[own].before] = norm->normalized;
    }
}

/* Appends a copy. */
static tsr_status judge(adversary *a, int picture, const char *suffix, int *logits) {
    tsr_training *t = a->step;
    const tsr_graph *own = a->own.graph;
    memcpy(a->places, a->shared, (size_t)own->value_count * sizeof *a->places);
    for (int i = 0; i < a->input_count; i++)
        a->places[own->inputs[i]] = input_place(a, i, picture);
    place_states(a);
    TSR_TRY(tsr_import_nodes(t->graph, own, suffix, a->places));
    *logits = a->places[a->logits];
    return tsr_training_apply_dropout(t);
}

/* Of the batch judged last. */
static void follow_statistics(adversary *a) {
    tsr_training_state *states = &a->step->states[a->step->discriminator.first];
    for (int i = a->own.model.parameter_count; i < a->own.state_count; i++)
        states[i].batches[states[i].batch_count++] = a->places[a->own.states[i].batches[0]];
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* The mean over all logits, of what is to be taken for a target, or not to be. */
static int build_judgement(tsr_builder *b, tsr_adversarial kind, int logits, bool real) {
    double half = kind == TSR_ADVERSARIAL_HINGE ? 1 : 0.5,
           count = (double)tsr_shape_count(&b->graph->values[logits].shape);
    int one = tsr_build_number(b, 1), elements, difference;
    switch (kind) {
    case TSR_ADVERSARIAL_CROSS_ENTROPY:
        elements = TSR_BUILD(b, TSR_OP_Softplus, real ? TSR_BUILD(b, TSR_OP_Neg, logits) : logits);
        break;
    case TSR_ADVERSARIAL_HINGE:
        elements = TSR_BUILD(b, TSR_OP_Relu,
                             real ? TSR_BUILD(b, TSR_OP_Sub, one, logits)
                                  : TSR_BUILD(b, TSR_OP_Add, logits, one));
        break;
    default:
        difference = real ? TSR_BUILD(b, TSR_OP_Sub, logits, one) : logits;
        elements = TSR_BUILD(b, TSR_OP_Mul, difference, difference);
    }
    return tsr_training_build_sum(b, elements, (float)(half / count));
}

static void build_discriminator_loss(tsr_training *t, tsr_builder *b, void *context) {
    const adversary *a = context;
    t->discriminator_loss =
        TSR_BUILD(b, TSR_OP_Add, build_judgement(b, t->desc->adversarial, a->real, true),
                  build_judgement(b, t->desc->adversarial, a->fake, false));
}

static void build_adversarial_loss(tsr_training *t, tsr_builder *b, void *context) {
    const adversary *a = context;
    double count = (double)tsr_shape_count(&b->graph->values[a->fake].shape);
    tsr_adversarial kind = t->desc->adversarial;
    if (kind == TSR_ADVERSARIAL_HINGE)
        t->adversarial = tsr_training_build_sum(b, a->fake, (float)(-1 / count));
    else
        t->adversarial = build_judgement(b, kind, a->fake, true);
    if (kind == TSR_ADVERSARIAL_CROSS_ENTROPY) /* not halved */
        t->adversarial = TSR_BUILD(b, TSR_OP_Add, t->adversarial, t->adversarial);
}

/* ---- the step -------------------------------------------------------------------------------- */

static void build_spectral(tsr_training *t, tsr_builder *b, void *unused) {
    (void)unused;
    tsr_training_build_spectral(t, b);
}

static tsr_status normalize(tsr_training *t) {
    return t->spectral_count ? tsr_training_append(t, "spectral", build_spectral, NULL) : TSR_OK;
}

static tsr_status train(adversary *a) {
    tsr_training *t = a->step;
    int *held = TSR_NEW(t->graph->arena, t->spectral_count + 1, int);
    if (!held)
        return tsr_out_of_memory(t->graph);
    TSR_TRY(normalize(t));
    TSR_TRY(judge(a, t->terms[0].target, "real", &a->real));
    follow_statistics(a);
    TSR_TRY(judge(a, t->terms[0].output, "fake", &a->fake));
    follow_statistics(a);
    TSR_TRY(tsr_training_append(t, "discriminator", build_discriminator_loss, a));
    for (int i = 0; i < t->spectral_count; i++)
        held[i] = t->spectral[i].right;
    return tsr_training_add_updates(t, &t->discriminator, t->discriminator_loss, t->spectral_count,
                                    held);
}

static tsr_status add(adversary *a) {
    tsr_training *t = a->step;
    tsr_graph *own = a->own.graph;
    TSR_TRY(tsr_session_name_file(prepare_own(a), own));
    a->shared = TSR_NEW(own->arena, own->value_count, int);
    a->places = TSR_NEW(own->arena, own->value_count, int);
    if (!a->shared || !a->places)
        return tsr_out_of_memory(own);
    TSR_TRY(tsr_import_constants(t->graph, own, a->shared));
    TSR_TRY(take_states(a));
    TSR_TRY(train(a));
    TSR_TRY(normalize(t));
    TSR_TRY(judge(a, t->terms[0].output, "judged", &a->fake));
    return tsr_training_append(t, "adversarial", build_adversarial_loss, a);
}

tsr_status tsr_training_add_discriminator(tsr_training *t, tsr_graph *discriminator) {
    const tsr_trainer_desc all = {.freeze_count = 0}; /* weights are trained */
    adversary a = {.step = t, .own = {.desc = &all, .graph = discriminator}};
    return tsr_fail_context(add(&a), "the discriminator");
}
