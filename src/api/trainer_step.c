/* Steps. */
#include "api/trainer.h"

#include <math.h>

#include "api/check_elements.h"
#include "api/session.h"
#include "api/sized.h"
#include "base/error.h"
#include "base/random.h"

/* ---- numbers and masks ----------------------------------------------------------------------- */

/* That of the step after `steps` ones. */
static double learning_rate(const tsr_trainer *t) {
    static const double pi = 3.14159265358979323846;
    const tsr_trainer_desc *d = &t->desc;
    double done = (double)t->steps, warmup = (double)d->warmup_steps;
    if (done < warmup)
        return d->learning_rate * (done + 1) / (warmup + 1);
    double held = warmup + (double)d->hold_steps,
           part = d->schedule ? (done - held) / ((double)d->steps - held) : 0;
    part = fmin(fmax(part, 0), 1);
    return d->learning_rate *
           (d->schedule == TSR_SCHEDULE_COSINE ? (1 + cos(pi * part)) / 2 : 1 - part);
}

static tsr_status write_number(const tsr_trainer *t, tsr_training_number which, double number) {
    int value = t->training.numbers[which];
    const float element = (float)number;
    return value == TSR_NONE ? TSR_OK
                             : tsr_trainer_set(t, &t->inputs[t->input_of[value]], &element);
}

static tsr_status write_numbers(const tsr_trainer *t) {
    const tsr_trainer_desc *d = &t->desc;
    double rate = learning_rate(t), step = (double)t->steps + 1,
           size = d->update == TSR_UPDATE_SGD ? rate : rate / (1 - pow(d->beta1, step));
    TSR_TRY(write_number(t, TSR_STEP_SIZE, size));
    TSR_TRY(write_number(t, TSR_VARIANCE_FACTOR, 1 / sqrt(1 - pow(d->beta2, step))));
    double decay = fmin(d->average_decay, (1 + step) / (10 + step));
    TSR_TRY(write_number(t, TSR_AVERAGE_PART, 1 - decay));
    return write_number(t, TSR_WEIGHT_FACTOR, 1 - rate * d->weight_decay);
}

static tsr_status write_masks(tsr_trainer *t, tsr_random *random) {
    for (int i = 0; i < t->training.mask_count; i++) {
        const tsr_training_mask *mask = &t->training.masks[i];
        int64_t count = tsr_shape_count(&t->graph->values[mask->value].shape);
        float kept = 1 / (1 - mask->ratio);
        for (int64_t e = 0; e < count; e++)
            t->mask[e] = tsr_random_uniform(random) < mask->ratio ? 0 : kept;
        TSR_TRY(tsr_trainer_set(t, &t->inputs[t->input_of[mask->value]], t->mask));
    }
    return TSR_OK;
}

/* Numbers depend on seed and step alone, so that a trainer that goes on has the same. */
static tsr_status write_random(tsr_trainer *t) {
    tsr_random random;
    tsr_random_seed(&random, t->desc.seed ^ (uint32_t)t->steps * 2654435761u);
    TSR_TRY(write_masks(t, &random));
    return tsr_trainer_write_augmentation(t, &random);
}

/* ---- what the caller gives ------------------------------------------------------------------- */

typedef struct step_arrays {
    const tsr_array *inputs, *targets;
    int input_count, target_count;
    size_t size; /* of a tsr_array, as the caller knows it */
} step_arrays;

/* Array i, of inputs and then targets, and the input of the graph that it is for. */
static tsr_status take_array(const tsr_trainer *t, const step_arrays *a, int i, tsr_elements *taken,
                             int *value) {
    bool is_input = i < a->input_count;
    int at = is_input ? i : i - a->input_count;
    const char *array = (const char *)(is_input ? a->inputs : a->targets) + (size_t)at * a->size;
    *value = is_input ? t->graph->inputs[at] : t->training.terms[at].given;
    *taken = (tsr_elements){.is_pixels = false};
    TSR_TRY(tsr_take_struct("tsr_array", array, a->size, &taken->array, sizeof taken->array));
    return tsr_check_elements(t->graph, &t->graph->values[*value], taken);
}

static tsr_status check_arrays(const tsr_trainer *t, const step_arrays *a) {
    tsr_elements unused;
    int value;
    if (a->input_count != t->training.input_count || a->target_count != t->training.term_count)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%d inputs and %d targets are given, a step takes %d "
                        "and %d",
                        a->input_count, a->target_count, t->training.input_count,
                        t->training.term_count);
    if ((!a->inputs && a->input_count) || !a->targets)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s is NULL",
                        a->targets ? "inputs" : "targets");
    for (int i = 0; i < a->input_count + a->target_count; i++)
        TSR_TRY(take_array(t, a, i, &unused, &value));
    return TSR_OK;
}

/* Arrays begin to end - 1. */
static tsr_status set_arrays(const tsr_trainer *t, const step_arrays *a, int begin, int end) {
    tsr_elements elements;
    int value;
    for (int i = begin; i < end; i++) {
        TSR_TRY(take_array(t, a, i, &elements, &value));
        const tsr_tensor_storage *to = &t->inputs[t->input_of[value]];
        TSR_TRY(t->device->backend->set_input(to->runner, to->graph->inputs[0], &elements));
    }
    return TSR_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void bind(const tsr_trainer *t, int value, const tsr_tensor_storage *tensor) {
    t->device->backend->bind(t->runner, value, tensor->runner, tensor->graph->inputs[0]);
}

static void bind_all(const tsr_trainer *t) {
    for (int i = 0; i < t->graph->input_count; i++)
        bind(t, t->graph->inputs[i], &t->inputs[i]);
    for (int i = 0; i < t->training.tensor_count; i++)
        bind(t, t->training.tensors[i].after, &t->next[i]);
    bind(t, t->training.losses, &t->losses);
    bind(t, t->training.checked, &t->checked);
}

static void exchange(tsr_trainer *t) {
    for (int i = 0; i < t->training.tensor_count; i++) {
        tsr_tensor_storage *before = &t->inputs[t->input_of[t->training.tensors[i].before]],
                           old = *before;
        *before = t->next[i];
        t->next[i] = old;
    }
}

/* Which loss is not finite, in words; NULL: all are. */
static const char *find_lost(const tsr_trainer *t, const float *losses) {
    int64_t count = tsr_shape_count(&tsr_tensor_storage_value(&t->losses)->shape);
    bool has_discriminator = t->discriminator != NULL;
    if (!isfinite(losses[0]))
        return isnan(losses[0]) ? "the loss is NaN" : "the loss is infinite";
    if (!has_discriminator || isfinite(losses[count - 1]))
        return NULL;
    return isnan(losses[count - 1]) ? "the discriminator's loss is NaN"
                                    : "the discriminator's loss is infinite";
}

static tsr_status refuse_step(const tsr_trainer *t) {
    char where[1024];
    const char *lost = find_lost(t, t->read);
    tsr_trainer_diagnose(t, where, sizeof where);
    return tsr_fail(
        TSR_ERROR_INVALID_ARGUMENT, "step %lld: %s%s; the weights are those from before it",
        (long long)t->steps + 1,
        lost ? lost : "the loss is finite, but a gradient is NaN, infinite or very large", where);
}

static tsr_status check_step(const tsr_trainer *t, float *loss) {
    const tsr_backend *backend = t->device->backend;
    float checked;
    TSR_TRY(backend->submit(t->losses.runner));
    TSR_TRY(backend->submit(t->checked.runner));
    if (backend->wait) /* it reads times, too */
        TSR_TRY(backend->wait(t->runner));
    TSR_TRY(tsr_trainer_get_submitted(t, &t->losses, t->read));
    TSR_TRY(tsr_trainer_get_submitted(t, &t->checked, &checked));
    *loss = t->read[0];
    return isfinite(checked) ? TSR_OK : refuse_step(t);
}

/* ---- a step in parts ------------------------------------------------------------------------- */

void tsr_trainer_cancel_step(tsr_trainer *t) {
    if (t->part == TSR_STEP_RUNS)
        t->has_losses = false;
    t->part = TSR_STEP_NONE;
}

tsr_status tsr_trainer_begin_sized(tsr_trainer *trainer, const tsr_array *inputs, int input_count,
                                   const tsr_array *targets, int target_count, size_t size) {
    const step_arrays arrays = {inputs, targets, input_count, target_count, size};
    if (!trainer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_begin: trainer is NULL");
    tsr_status status = check_arrays(trainer, &arrays);
    if (status == TSR_OK) {
        tsr_trainer_cancel_step(trainer);
        status = set_arrays(trainer, &arrays, 0, input_count + target_count);
        trainer->part = status == TSR_OK ? TSR_STEP_BEGUN : TSR_STEP_NONE;
    }
    return status == TSR_OK ? TSR_OK : tsr_session_name_file(status, trainer->graph);
}

static tsr_status start(tsr_trainer *t) {
    TSR_TRY(write_numbers(t));
    TSR_TRY(write_random(t));
    bind_all(t);
    return TSR_OK;
}

/* For about ms milliseconds. */
static tsr_status work(tsr_trainer *t, double ms) {
    const tsr_backend *backend = t->device->backend;
    bool first = t->part == TSR_STEP_BEGUN;
    if (first)
        TSR_TRY(start(t));
    t->part = TSR_STEP_RUNS;
    if (backend->step)
        return backend->step(t->runner, first, ms);
    if (first)
        TSR_TRY(backend->submit(t->runner));
    return backend->poll(t->runner);
}

/* The rest of a step that was submitted, or failed to be. */
static tsr_status end_step(tsr_trainer *t, tsr_status status, float *loss) {
    t->part = TSR_STEP_NONE;
    t->has_losses = status == TSR_OK;
    if (status == TSR_OK && loss)
        status = check_step(t, loss);
    if (status != TSR_OK)
        return tsr_session_name_file(status, t->graph);
    exchange(t);
    t->steps++;
    return TSR_OK;
}

tsr_status tsr_trainer_advance(tsr_trainer *trainer, double ms, float *loss) {
    if (!trainer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_advance: trainer is NULL");
    if (trainer->part == TSR_STEP_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: no step has begun", trainer->graph->file);
    if (trainer->prepared == TSR_NOT_READY) {
        TSR_TRY(tsr_trainer_prepare(trainer, ms));
        return TSR_NOT_READY;
    }
    TSR_TRY(tsr_trainer_check_ready(trainer));
    tsr_status status = work(trainer, ms);
    return status == TSR_NOT_READY ? status : end_step(trainer, status, loss);
}

/* ---- a whole step ---------------------------------------------------------------------------- */

/* The device starts on the network while the targets are copied. */
static tsr_status submit(tsr_trainer *t, const step_arrays *a) {
    const tsr_backend *backend = t->device->backend;
    TSR_TRY(set_arrays(t, a, 0, a->input_count));
    TSR_TRY(write_random(t));
    bind_all(t);
    if (backend->submit_before)
        TSR_TRY(backend->submit_before(t->runner, t->late, t->late_count));
    TSR_TRY(set_arrays(t, a, a->input_count, a->input_count + a->target_count));
    TSR_TRY(write_numbers(t));
    return backend->submit(t->runner);
}

tsr_status tsr_trainer_step_sized(tsr_trainer *trainer, const tsr_array *inputs, int input_count,
                                  const tsr_array *targets, int target_count, size_t size,
                                  float *loss) {
    const step_arrays arrays = {inputs, targets, input_count, target_count, size};
    if (!trainer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_step: trainer is NULL");
    TSR_TRY(tsr_trainer_check_ready(trainer));
    tsr_status status = check_arrays(trainer, &arrays);
    if (status != TSR_OK)
        return tsr_session_name_file(status, trainer->graph);
    tsr_trainer_cancel_step(trainer);
    return end_step(trainer, submit(trainer, &arrays), loss);
}

/* ---- losses ---------------------------------------------------------------------------------- */

int tsr_trainer_loss_count(const tsr_trainer *trainer) {
    return trainer ? trainer->training.term_count + (trainer->discriminator ? 2 : 0) : 0;
}

/* What a loss counts in the first one. */
static float weight_of(const tsr_trainer *t, int i) {
    int terms = t->training.term_count;
    return i < terms ? t->training.terms[i].weight : i == terms ? t->desc.adversarial_weight : 1;
}

tsr_status tsr_trainer_losses(tsr_trainer *trainer, float *losses, int count) {
    if (!trainer || !losses || count != tsr_trainer_loss_count(trainer))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_losses: room for %d of %d losses",
                        losses ? count : 0, tsr_trainer_loss_count(trainer));
    if (!trainer->has_losses || trainer->part == TSR_STEP_RUNS)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s", trainer->graph->file,
                        trainer->part == TSR_STEP_RUNS ? "a step is in progress"
                        : trainer->steps               ? "the last step was not completed"
                                                       : "no step has been made");
    tsr_status status = tsr_trainer_get(trainer, &trainer->losses, trainer->read);
    if (status != TSR_OK)
        return tsr_session_name_file(status, trainer->graph);
    for (int i = 0; i < count; i++)
        losses[i] = trainer->read[count > 1 ? i + 1 : 0] / weight_of(trainer, i);
    return TSR_OK;
}
