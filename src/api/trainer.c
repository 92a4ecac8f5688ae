#include "api/trainer.h"

#include <math.h>
#include <string.h>

#include "api/bind.h"
#include "api/model.h"
#include "api/session.h"
#include "api/sized.h"
#include "base/allocator.h"
#include "base/error.h"
#include "base/random.h"

/* ---- making ---------------------------------------------------------------------------------- */

static tsr_status check_number(float number, bool good, const char *name) {
    return isfinite(number) && good
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s is no number that it can be", name);
}

static tsr_status check_desc(const tsr_trainer_desc *d) {
    TSR_TRY(check_number(d->learning_rate, d->learning_rate > 0, "learning_rate"));
    TSR_TRY(check_number(d->beta1, d->beta1 >= 0 && d->beta1 < 1, "beta1"));
    TSR_TRY(check_number(d->beta2, d->beta2 >= 0 && d->beta2 < 1, "beta2"));
    TSR_TRY(check_number(d->epsilon, d->epsilon > 0, "epsilon"));
    TSR_TRY(check_number(d->momentum, d->momentum >= 0 && d->momentum < 1, "momentum"));
    TSR_TRY(check_number(d->weight_decay, d->weight_decay >= 0, "weight_decay"));
    TSR_TRY(check_number(d->clip_norm, d->clip_norm >= 0, "clip_norm"));
    if ((unsigned)d->loss > TSR_LOSS_BINARY_CROSS_ENTROPY || (unsigned)d->update > TSR_UPDATE_SGD ||
        (unsigned)d->schedule > TSR_SCHEDULE_COSINE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no loss %d, update %d or schedule %d",
                        (int)d->loss, (int)d->update, (int)d->schedule);
    if (d->steps < 0 || d->warmup_steps < 0 || (d->schedule && d->steps <= d->warmup_steps))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%lld steps, %lld of them to warm up: a schedule needs more of them",
                        (long long)d->steps, (long long)d->warmup_steps);
    const tsr_desc_list lists[] = {{"freeze", d->freeze_count, d->freeze},
                                   {"dims", d->dim_count, d->dims},
                                   {"shapes", d->shape_count, d->shapes}};
    return tsr_check_lists("tsr_trainer_desc", lists, sizeof lists / sizeof *lists);
}

static void fill_defaults(tsr_trainer_desc *d) {
    d->learning_rate = d->learning_rate != 0 ? d->learning_rate : 1e-3f;
    d->beta1 = d->beta1 != 0 ? d->beta1 : 0.9f;
    d->beta2 = d->beta2 != 0 ? d->beta2 : 0.999f;
    d->epsilon = d->epsilon != 0 ? d->epsilon : 1e-8f;
}

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
    TSR_TRY(tsr_training_make(t->graph, &t->desc, &t->training));
    TSR_TRY(tsr_optimizer_make(NULL, &optimizer));
    return t->device->backend->optimizes ? tsr_optimize(t->graph, &optimizer) : TSR_OK;
}

static tsr_status make_runner(tsr_trainer *t) {
    const tsr_backend *backend = t->device->backend;
    tsr_progress_meter progress = {.caller = t->desc.progress};
    tsr_runner_options options = {.precision = TSR_PRECISION_FP32,
                                  .runs_in_flight = 1,
                                  .time_passes = t->desc.time_passes,
                                  .progress = &progress};
    if (!t->device->fixed_kernels) {
        const tsr_autotune_target target = {backend, t->device->impl, &t->device->tuned};
        TSR_TRY(tsr_autotune(&target, t->graph, &options, t->desc.tune_ms, &t->tuning));
    }
    options.choices = t->tuning.choices;
    options.separate_tensors = options.bound_tensors = true;
    TSR_TRY(backend->runner_create(t->device->impl, t->graph, &options, &t->runner));
    if (backend->transfer_outputs)
        backend->transfer_outputs(t->runner, false);
    return TSR_OK;
}

static tsr_status make_tensor(const tsr_trainer *t, int value, tsr_tensor_storage *tensor) {
    return tsr_tensor_storage_make(t->device, &t->graph->values[value].shape, TSR_DTYPE_F32,
                                   tensor);
}

tsr_status tsr_trainer_set(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                           const float *elements) {
    size_t count = (size_t)tsr_shape_count(&tsr_tensor_storage_value(tensor)->shape);
    const tsr_elements from = tsr_elements_of_floats((float *)elements, count);
    return t->device->backend->set_input(tensor->runner, tensor->graph->inputs[0], &from);
}

tsr_status tsr_trainer_get(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                           float *elements) {
    size_t count = (size_t)tsr_shape_count(&tsr_tensor_storage_value(tensor)->shape);
    const tsr_elements to = tsr_elements_of_floats(elements, count);
    TSR_TRY(t->device->backend->submit(tensor->runner));
    return t->device->backend->get_output(tensor->runner, tensor->graph->outputs[0], &to);
}

static int find_input(const tsr_graph *graph, int value) {
    int i = 0;
    while (graph->inputs[i] != value)
        i++;
    return i;
}

static tsr_status make_states(tsr_trainer *t) {
    for (int i = 0; i < t->training.state_count; i++) {
        const tsr_training_state *state = &t->training.states[i];
        t->state_input[i] = find_input(t->graph, state->before);
        TSR_TRY(make_tensor(t, state->before, &t->next[i]));
        if (state->initial)
            TSR_TRY(tsr_trainer_set(t, &t->inputs[t->state_input[i]], state->initial));
    }
    return TSR_OK;
}

static tsr_status make_tensors(tsr_trainer *t) {
    tsr_arena *arena = t->graph->arena;
    int states = t->training.state_count;
    size_t largest = 1;
    for (int i = 0; i < t->training.mask_count; i++) {
        const tsr_value *mask = &t->graph->values[t->training.masks[i].value];
        size_t count = (size_t)tsr_shape_count(&mask->shape);
        largest = count > largest ? count : largest;
    }
    t->inputs = TSR_NEW(arena, t->graph->input_count, tsr_tensor_storage);
    t->next = TSR_NEW(arena, states, tsr_tensor_storage);
    t->state_input = TSR_NEW(arena, states, int);
    t->mask = TSR_NEW(arena, largest, float);
    if (!t->inputs || !t->next || !t->state_input || !t->mask)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a trainer");
    for (int i = 0; i < t->graph->input_count; i++)
        TSR_TRY(make_tensor(t, t->graph->inputs[i], &t->inputs[i]));
    TSR_TRY(make_tensor(t, t->training.loss, &t->loss));
    TSR_TRY(make_tensor(t, t->training.checked, &t->checked));
    return make_states(t);
}

static tsr_status build(tsr_trainer *t) {
    fill_defaults(&t->desc);
    TSR_TRY(check_desc(&t->desc));
    TSR_TRY(check_precision(t));
    TSR_TRY(make_graph(t));
    TSR_TRY(make_runner(t));
    return make_tensors(t);
}

tsr_status tsr_trainer_create_sized(tsr_device *device, const tsr_model *model,
                                    const tsr_trainer_desc *desc, size_t size,
                                    tsr_trainer **trainer) {
    tsr_trainer_desc known;
    if (!trainer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_create: trainer is NULL");
    *trainer = NULL;
    if (!device || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_create: %s is NULL",
                        device ? "model" : "device");
    TSR_TRY(tsr_take_struct("tsr_trainer_desc", desc, size, &known, sizeof known));
    tsr_trainer *made = tsr_calloc(1, sizeof *made);
    tsr_graph *graph = made ? tsr_graph_clone(model->graph) : NULL;
    if (!graph) {
        tsr_free(made);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for a trainer", model->graph->file);
    }
    made->device = tsr_device_retain(device);
    made->model = tsr_model_retain(model);
    made->graph = graph;
    tsr_training_widen(graph);
    made->desc = known;
    tsr_status status = build(made);
    if (status != TSR_OK) {
        tsr_trainer_destroy(made);
        return tsr_session_name_file(status, model->graph);
    }
    *trainer = made;
    return TSR_OK;
}

void tsr_trainer_destroy(tsr_trainer *t) {
    if (!t)
        return;
    if (t->runner)
        t->device->backend->runner_destroy(t->runner);
    for (int i = 0; t->inputs && i < t->graph->input_count; i++)
        tsr_tensor_storage_destroy(t->device, &t->inputs[i]);
    for (int i = 0; t->next && i < t->training.state_count; i++)
        tsr_tensor_storage_destroy(t->device, &t->next[i]);
    tsr_tensor_storage_destroy(t->device, &t->loss);
    tsr_tensor_storage_destroy(t->device, &t->checked);
    tsr_graph_destroy(t->graph);
    tsr_model_free(t->model);
    tsr_device_destroy(t->device);
    tsr_free(t);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* That of the step after `steps` ones. */
static double learning_rate(const tsr_trainer *t) {
    static const double pi = 3.14159265358979323846;
    const tsr_trainer_desc *d = &t->desc;
    double done = (double)t->steps, warmup = (double)d->warmup_steps;
    if (done < warmup)
        return d->learning_rate * (done + 1) / (warmup + 1);
    double part = d->schedule ? (done - warmup) / ((double)d->steps - warmup) : 0;
    part = part < 1 ? part : 1;
    return d->learning_rate *
           (d->schedule == TSR_SCHEDULE_COSINE ? (1 + cos(pi * part)) / 2 : 1 - part);
}

static tsr_status write_number(const tsr_trainer *t, tsr_training_number which, double number) {
    int value = t->training.numbers[which];
    const float element = (float)number;
    return value == TSR_NONE
               ? TSR_OK
               : tsr_trainer_set(t, &t->inputs[find_input(t->graph, value)], &element);
}

static tsr_status write_numbers(const tsr_trainer *t) {
    const tsr_trainer_desc *d = &t->desc;
    double rate = learning_rate(t), step = (double)t->steps + 1,
           size = d->update == TSR_UPDATE_SGD ? rate : rate / (1 - pow(d->beta1, step));
    TSR_TRY(write_number(t, TSR_STEP_SIZE, size));
    TSR_TRY(write_number(t, TSR_VARIANCE_FACTOR, 1 / sqrt(1 - pow(d->beta2, step))));
    return write_number(t, TSR_WEIGHT_FACTOR, 1 - rate * d->weight_decay);
}

/* Numbers depend on seed and step alone, so that a trainer that goes on has the same. */
static tsr_status write_masks(tsr_trainer *t) {
    tsr_random random;
    tsr_random_seed(&random, t->desc.seed ^ (uint32_t)t->steps * 2654435761u);
    for (int i = 0; i < t->training.mask_count; i++) {
        const tsr_training_mask *mask = &t->training.masks[i];
        int64_t count = tsr_shape_count(&t->graph->values[mask->value].shape);
        float kept = 1 / (1 - mask->ratio);
        for (int64_t e = 0; e < count; e++)
            t->mask[e] = tsr_random_uniform(&random) < mask->ratio ? 0 : kept;
        TSR_TRY(tsr_trainer_set(t, &t->inputs[find_input(t->graph, mask->value)], t->mask));
    }
    return TSR_OK;
}

static void bind(const tsr_trainer *t, int value, const tsr_tensor_storage *tensor) {
    t->device->backend->bind(t->runner, value, tensor->runner, tensor->graph->inputs[0]);
}

static void bind_all(const tsr_trainer *t) {
    for (int i = 0; i < t->graph->input_count; i++)
        bind(t, t->graph->inputs[i], &t->inputs[i]);
    for (int i = 0; i < t->training.state_count; i++)
        bind(t, t->training.states[i].after, &t->next[i]);
    bind(t, t->training.loss, &t->loss);
    bind(t, t->training.checked, &t->checked);
}

static void exchange(tsr_trainer *t) {
    for (int i = 0; i < t->training.state_count; i++) {
        tsr_tensor_storage *before = &t->inputs[t->state_input[i]], old = *before;
        *before = t->next[i];
        t->next[i] = old;
    }
}

static tsr_status run_step(tsr_trainer *t, const float *const *inputs, const float *target,
                           float *loss) {
    for (int i = 0; i < t->training.input_count; i++)
        TSR_TRY(tsr_trainer_set(t, &t->inputs[i], inputs[i]));
    TSR_TRY(tsr_trainer_set(t, &t->inputs[find_input(t->graph, t->training.target)], target));
    TSR_TRY(write_numbers(t));
    TSR_TRY(write_masks(t));
    bind_all(t);
    TSR_TRY(t->device->backend->submit(t->runner));
    if (!loss)
        return TSR_OK;
    float checked;
    TSR_TRY(tsr_trainer_get(t, &t->loss, loss));
    TSR_TRY(tsr_trainer_get(t, &t->checked, &checked));
    if (isfinite(checked))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "step %lld: the loss is %s; the weights are those from before it",
                    (long long)t->steps + 1,
                    isnan(*loss)       ? "NaN"
                    : !isfinite(*loss) ? "infinite"
                                       : "finite, but a gradient is NaN, infinite or very large");
}

tsr_status tsr_trainer_step(tsr_trainer *trainer, const float *const *inputs, const float *target,
                            float *loss) {
    if (!trainer || !inputs || !target)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_step: %s is NULL",
                        !trainer  ? "trainer"
                        : !inputs ? "inputs"
                                  : "target");
    for (int i = 0; i < trainer->training.input_count; i++)
        if (!inputs[i])
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_step: inputs[%d] is NULL", i);
    TSR_TRY(tsr_session_name_file(run_step(trainer, inputs, target, loss), trainer->graph));
    exchange(trainer);
    trainer->steps++;
    return TSR_OK;
}

const char *tsr_trainer_scored(const tsr_trainer *trainer) {
    return trainer ? trainer->graph->values[trainer->training.scored].name : NULL;
}

int64_t tsr_trainer_steps(const tsr_trainer *trainer) {
    return trainer ? trainer->steps : 0;
}

/* ---- parameters -------------------------------------------------------------------------------
 */

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

tsr_status tsr_trainer_target_sized(const tsr_trainer *trainer, tsr_tensor_info *info,
                                    size_t size) {
    if (!trainer || !info)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_target: %s is NULL",
                        trainer ? "info" : "trainer");
    return describe(trainer, trainer->training.target, info, size);
}

int tsr_trainer_parameter_count(const tsr_trainer *trainer) {
    return trainer ? trainer->training.parameter_count : 0;
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
                        .calibrated_error = -1};
    for (int n = 0; n < graph->node_count; n++)
        known.macs += tsr_node_macs(graph, &graph->nodes[n]);
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
