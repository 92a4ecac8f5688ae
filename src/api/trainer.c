#include "api/trainer.h"

#include <math.h>
#include <string.h>

#include "api/model.h"
#include "api/session.h"
#include "api/sized.h"
#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "passes/edit.h"

/* ---- making ---------------------------------------------------------------------------------- */

static tsr_status check_precision(const tsr_trainer *t) {
    tsr_device_info info = {.half_only = false};
    t->device->backend->device_info(t->device->impl, &info);
    if (!info.half_only)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "%s renders to no floats of 32 bits: training needs them", info.name);
}

static tsr_status make_graph(tsr_trainer *t) {
    tsr_optimizer optimizer;
    TSR_TRY(tsr_training_widen(t->graph));
    if (t->discriminator_graph)
        TSR_TRY(tsr_training_widen(t->discriminator_graph));
    TSR_TRY(tsr_training_make(t->graph, t->discriminator_graph, &t->desc, &t->training));
    if (!t->device->backend->streams) /* frozen weights are read as arrays */
        TSR_TRY(tsr_copy_constants(t->graph));
    t->plain = tsr_graph_clone(t->graph);
    if (!t->plain)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a trainer");
    TSR_TRY(tsr_optimizer_make(NULL, &optimizer));
    return t->device->backend->optimizes ? tsr_optimize(t->graph, &optimizer) : TSR_OK;
}

static tsr_status make_runner(tsr_trainer *t) {
    const tsr_backend *backend = t->device->backend;
    t->progress.caller = t->desc.progress;
    tsr_runner_options options = {.precision = TSR_PRECISION_FP32,
                                  .runs_in_flight = 1,
                                  .time_passes = t->desc.time_passes,
                                  .prepare_in_steps = t->desc.prepare_in_steps,
                                  .progress = &t->progress};
    if (!t->device->fixed_kernels) {
        const tsr_autotune_target target = {backend, t->device->impl, &t->device->tuned};
        TSR_TRY(tsr_autotune(&target, t->graph, &options, t->desc.tune_ms, &t->tuning));
    }
    if (t->desc.max_bytes)
        t->graph->max_bytes = t->desc.max_bytes; /* which planning keeps to */
    options.choices = t->tuning.choices;
    options.separate_tensors = options.bound_tensors = true;
    TSR_TRY(backend->runner_create(t->device->impl, t->graph, &options, &t->runner));
    t->compiles = options.prepare_in_steps && backend->prepare;
    if (backend->transfer_outputs)
        backend->transfer_outputs(t->runner, false);
    return TSR_OK;
}

static tsr_status make_tensor(const tsr_trainer *t, int value, tsr_tensor_storage *tensor) {
    return tsr_tensor_storage_make(t->device, &t->graph->values[value].shape, TSR_DTYPE_F32,
                                   tensor);
}

/* A tensor that check_step() reads: submitting its runner starts the transfer to memory, so that
 * several are under way at once. The first read prepares the transfer. */
static tsr_status make_result(const tsr_trainer *t, int value, tsr_tensor_storage *tensor) {
    TSR_TRY(make_tensor(t, value, tensor));
    if (t->device->backend->transfer_outputs)
        t->device->backend->transfer_outputs(tensor->runner, true);
    return TSR_OK;
}

tsr_status tsr_trainer_set(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                           const float *elements) {
    size_t count = (size_t)tsr_shape_count(&tsr_tensor_storage_value(tensor)->shape);
    const tsr_elements from = tsr_elements_of_floats((float *)elements, count);
    return t->device->backend->set_input(tensor->runner, tensor->graph->inputs[0], &from);
}

tsr_status tsr_trainer_get_submitted(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                                     float *elements) {
    size_t count = (size_t)tsr_shape_count(&tsr_tensor_storage_value(tensor)->shape);
    const tsr_elements to = tsr_elements_of_floats(elements, count);
    return t->device->backend->get_output(tensor->runner, tensor->graph->outputs[0], &to);
}

tsr_status tsr_trainer_get(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                           float *elements) {
    TSR_TRY(t->device->backend->submit(tensor->runner));
    return tsr_trainer_get_submitted(t, tensor, elements);
}

const tsr_tensor_storage *tsr_trainer_tensor(const tsr_trainer *t, int tensor) {
    return &t->inputs[t->input_of[t->training.tensors[tensor].before]];
}

tsr_status tsr_trainer_set_states(const tsr_trainer *t, int tensor, int like,
                                  const float *const *elements) {
    const tsr_tensor_storage *to = tsr_trainer_tensor(t, tensor);
    const size_t count = (size_t)tsr_shape_count(&tsr_tensor_storage_value(to)->shape);
    float *all = NULL;
    for (int i = 0; i < t->training.state_count; i++) {
        const tsr_training_state *state = &t->training.states[i];
        const size_t part = (size_t)tsr_shape_count(&t->graph->values[state->before].shape);
        const float *from = elements ? elements[i] : state->initial;
        if (state->tensor != like || !from)
            continue;
        if (part == count)
            return tsr_trainer_set(t, to, from);
        all = all ? all : tsr_calloc(count, sizeof *all);
        if (!all)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the weights");
        memcpy(all + state->begin, from, part * sizeof *all);
    }
    tsr_status status = all ? tsr_trainer_set(t, to, all) : TSR_OK;
    tsr_free(all);
    return status;
}

/* What a tensor begins as: averages as what they are of. */
static int initial_like(const tsr_training *training, int tensor) {
    int of = training->average == TSR_NONE ? TSR_NONE : tensor - training->average;
    return of >= 0 && of < training->model.tensor_count ? training->model.first_tensor + of
                                                        : tensor;
}

static tsr_status make_state_tensor(tsr_trainer *t, int i) {
    const int value = t->training.tensors[i].before;
    TSR_TRY(make_tensor(t, value, &t->inputs[t->input_of[value]]));
    TSR_TRY(make_tensor(t, value, &t->next[i]));
    return tsr_trainer_set_states(t, i, initial_like(&t->training, i), NULL);
}

static tsr_status prepare(tsr_trainer *t, double ms) {
    const double end = tsr_clock_ms() + ms;
    while (t->made_tensors < t->training.tensor_count) {
        TSR_TRY(make_state_tensor(t, t->made_tensors));
        t->made_tensors++;
        if (tsr_clock_ms() >= end)
            return TSR_NOT_READY;
    }
    if (t->compiles)
        TSR_TRY(t->device->backend->prepare(t->runner, end - tsr_clock_ms()));
    t->compiles = false;
    return TSR_OK;
}

tsr_status tsr_trainer_prepare(tsr_trainer *t, double ms) {
    tsr_status status = prepare(t, ms);
    t->prepared = status;
    return status == TSR_OK || status == TSR_NOT_READY ? status
                                                       : tsr_session_name_file(status, t->graph);
}

tsr_status tsr_trainer_check_ready(const tsr_trainer *t) {
    if (t->prepared == TSR_OK)
        return TSR_OK;
    tsr_status status =
        t->prepared == TSR_ERROR_DEVICE_LOST ? t->prepared : TSR_ERROR_INVALID_ARGUMENT;
    return tsr_fail(status, "%s: the trainer %s", t->graph->file,
                    t->prepared == TSR_NOT_READY ? "is not prepared yet" : "could not be prepared");
}

static bool is_state(const tsr_trainer *t, int value) {
    int i = 0;
    while (i < t->training.tensor_count && t->training.tensors[i].before != value)
        i++;
    return i < t->training.tensor_count;
}

static void list_late(tsr_trainer *t) {
    const tsr_training *training = &t->training;
    for (int i = 0; i < training->term_count; i++)
        t->late[t->late_count++] = training->terms[i].given;
    for (int i = 0; i < TSR_TRAINING_NUMBERS; i++)
        if (training->numbers[i] != TSR_NONE)
            t->late[t->late_count++] = training->numbers[i];
}

/* Those of states are made by prepare(). */
static tsr_status make_tensors(tsr_trainer *t) {
    tsr_arena *arena = t->graph->arena;
    size_t largest = 1;
    for (int i = 0; i < t->training.mask_count; i++) {
        const tsr_value *mask = &t->graph->values[t->training.masks[i].value];
        size_t count = (size_t)tsr_shape_count(&mask->shape);
        largest = count > largest ? count : largest;
    }
    t->inputs = TSR_NEW(arena, t->graph->input_count, tsr_tensor_storage);
    t->input_of = TSR_NEW(arena, t->graph->value_count, int);
    t->next = TSR_NEW(arena, t->training.tensor_count, tsr_tensor_storage);
    t->mask = TSR_NEW(arena, largest, float);
    t->read = TSR_NEW(arena, tsr_trainer_loss_count(t) + 1, float);
    t->late = TSR_NEW(arena, t->training.term_count + TSR_TRAINING_NUMBERS, int);
    if (!t->inputs || !t->input_of || !t->next || !t->mask || !t->read || !t->late)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a trainer");
    list_late(t);
    for (int i = 0; i < t->graph->input_count; i++)
        t->input_of[t->graph->inputs[i]] = i;
    for (int i = 0; i < t->graph->input_count; i++)
        if (!is_state(t, t->graph->inputs[i]))
            TSR_TRY(make_tensor(t, t->graph->inputs[i], &t->inputs[i]));
    TSR_TRY(make_result(t, t->training.losses, &t->losses));
    TSR_TRY(make_result(t, t->training.checked, &t->checked));
    return tsr_trainer_make_sample_numbers(t);
}

static tsr_status build(tsr_trainer *t) {
    TSR_TRY(check_precision(t));
    TSR_TRY(make_graph(t));
    TSR_TRY(make_runner(t));
    TSR_TRY(make_tensors(t));
    t->prepared = TSR_NOT_READY;
    return t->desc.prepare_in_steps ? TSR_OK : tsr_trainer_prepare(t, INFINITY);
}

static tsr_status take_discriminator(tsr_trainer *t) {
    t->discriminator = tsr_model_retain(t->desc.discriminator);
    t->discriminator_graph = tsr_graph_clone(t->discriminator->graph);
    return t->discriminator_graph
               ? TSR_OK
               : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a discriminator");
}

static tsr_status create(tsr_device *device, const tsr_model *model, const tsr_trainer_desc *desc,
                         tsr_trainer **trainer) {
    TSR_TRY(tsr_trainer_check_desc(desc));
    tsr_trainer *made = tsr_calloc(1, sizeof *made);
    tsr_graph *graph = made ? tsr_graph_clone(model->graph) : NULL;
    if (!graph) {
        tsr_free(made);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a trainer");
    }
    made->device = tsr_device_retain(device);
    made->model = tsr_model_retain(model);
    made->graph = graph;
    made->desc = *desc;
    tsr_status status = desc->discriminator ? take_discriminator(made) : TSR_OK;
    if (status == TSR_OK)
        status = build(made);
    if (status == TSR_OK)
        *trainer = made;
    else
        tsr_trainer_destroy(made);
    return status;
}

tsr_status tsr_trainer_create_sized(tsr_device *device, const tsr_model *model,
                                    const tsr_trainer_desc *desc, size_t size, size_t loss_size,
                                    tsr_trainer **trainer) {
    tsr_trainer_desc known;
    if (!trainer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_create: trainer is NULL");
    *trainer = NULL;
    if (!device || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_create: %s is NULL",
                        device ? "model" : "device");
    TSR_TRY(tsr_trainer_take_desc(desc, size, loss_size, &known));
    tsr_status status = create(device, model, &known, trainer);
    tsr_free((void *)known.losses);
    return status == TSR_OK ? TSR_OK : tsr_session_name_file(status, model->graph);
}

void tsr_trainer_destroy(tsr_trainer *t) {
    if (!t)
        return;
    if (t->runner)
        t->device->backend->runner_destroy(t->runner);
    for (int i = 0; t->inputs && i < t->graph->input_count; i++)
        tsr_tensor_storage_destroy(t->device, &t->inputs[i]);
    for (int i = 0; t->next && i < t->training.tensor_count; i++)
        tsr_tensor_storage_destroy(t->device, &t->next[i]);
    tsr_tensor_storage_destroy(t->device, &t->losses);
    tsr_tensor_storage_destroy(t->device, &t->checked);
    tsr_graph_destroy(t->plain);
    tsr_graph_destroy(t->graph);
    tsr_graph_destroy(t->discriminator_graph);
    tsr_model_free(t->model);
    tsr_model_free(t->discriminator);
    tsr_device_destroy(t->device);
    tsr_free(t);
}

int64_t tsr_trainer_steps(const tsr_trainer *trainer) {
    return trainer ? trainer->steps : 0;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static tsr_status describe(const tsr_trainer *t, int value, tsr_tensor_info *info, size_t size) {
    const tsr_tensor_info known = tsr_tensor_info_of(&t->graph->values[value]);
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

tsr_status tsr_trainer_input_sized(const tsr_trainer *trainer, int index, tsr_tensor_info *info,
                                   size_t size) {
    if (!trainer || !info || index < 0 || index >= trainer->training.input_count)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_input: there is no input %d of %d",
                        index, trainer ? trainer->training.input_count : 0);
    return describe(trainer, trainer->graph->inputs[index], info, size);
}

int tsr_trainer_target_count(const tsr_trainer *trainer) {
    return trainer ? trainer->training.term_count : 0;
}

static const tsr_training_term *term_of(const tsr_trainer *trainer, int index) {
    return index >= 0 && index < tsr_trainer_target_count(trainer) ? &trainer->training.terms[index]
                                                                   : NULL;
}

tsr_status tsr_trainer_target_sized(const tsr_trainer *trainer, int index, tsr_tensor_info *info,
                                    size_t size) {
    const tsr_training_term *term = term_of(trainer, index);
    if (!term || !info)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_trainer_target: there is no target %d of %d", index,
                        tsr_trainer_target_count(trainer));
    return describe(trainer, term->given, info, size);
}

const char *tsr_trainer_scored(const tsr_trainer *trainer, int index) {
    const tsr_training_term *term = term_of(trainer, index);
    return term ? trainer->graph->values[term->scored].name : NULL;
}

int tsr_trainer_parameter_count(const tsr_trainer *trainer) {
    return trainer ? trainer->training.model.parameter_count : 0;
}

tsr_status tsr_trainer_parameter_sized(const tsr_trainer *trainer, int index, tsr_tensor_info *info,
                                       size_t size) {
    if (!info || index < 0 || index >= tsr_trainer_parameter_count(trainer))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_trainer_parameter: there is no parameter %d of %d", index,
                        tsr_trainer_parameter_count(trainer));
    return describe(trainer, trainer->training.states[index].before, info, size);
}

/* ---- reports --------------------------------------------------------------------------------- */

tsr_status tsr_trainer_report_sized(const tsr_trainer *trainer, tsr_report *report, size_t size) {
    if (!trainer || !report)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_report: %s is NULL",
                        trainer ? "report" : "trainer");
    const tsr_graph *graph = trainer->graph;
    tsr_report known = {.backend = trainer->device->backend->name,
                        .node_count = graph->node_count,
                        .gpu_ms = -1,
                        .tuned_layers = trainer->tuning.measured,
                        .tune_ms = trainer->tuning.ms,
                        .macs = tsr_graph_macs(graph),
                        .calibrated_error = -1};
    trainer->device->backend->report(trainer->runner, &known);
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}

tsr_status tsr_trainer_node_report_sized(const tsr_trainer *trainer, int index,
                                         tsr_node_report *report, size_t size) {
    if (!trainer || !report || index < 0 || index >= trainer->graph->node_count)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_trainer_node_report: there is no node %d of %d", index,
                        trainer ? trainer->graph->node_count : 0);
    const tsr_node_report known =
        tsr_report_node(trainer->device, trainer->runner, trainer->graph, index,
                        tsr_node_op_name(&trainer->graph->nodes[index]));
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}
