#include "learn.h"

#include <stdio.h>
#include <stdlib.h>

/* Of Adam, measured with edges2emoji.onnx: 20 steps leave a fifth of the error where a quarter of
 * a face is painted over. The loss is the squared error: where the picture is right already, its
 * slope is 0, and that of the absolute error is not. */
static const float rate = 2e-4f;

static void end(learner *l, learner_state state) {
    tsr_trainer_destroy(l->trainer);
    l->trainer = NULL;
    l->state = state;
}

static void fail(learner *l) {
    snprintf(l->error, sizeof l->error, "%s", tsr_last_error());
    end(l, LEARNING_FAILED);
}

/* Names of the first half of all weights, to be freed, in the order of the layers that read them;
 * they are valid until the trainer is destroyed. */
static tsr_status list_early(const tsr_trainer *all, const char ***names, int *count) {
    tsr_tensor_info info;
    tsr_status status = TSR_OK;
    *count = tsr_trainer_parameter_count(all) / 2;
    *names = calloc((size_t)*count + 1, sizeof **names);
    for (int i = 0; i < *count && *names && status == TSR_OK; i++) {
        status = tsr_trainer_parameter(all, i, &info);
        (*names)[i] = info.name;
    }
    return *names ? status : TSR_ERROR_OUT_OF_MEMORY;
}

/* What early layers see in a sketch stays: small changes there change all pictures. */
static tsr_status create(learner *l, tsr_device *device, const tsr_model *model,
                         tsr_trainer_desc *desc) {
    tsr_trainer_desc plan = *desc;
    tsr_trainer *all;
    const char **names = NULL;
    plan.prepare_in_steps = true;
    tsr_status status = tsr_trainer_create(device, model, &plan, &all);
    if (status != TSR_OK)
        return status;
    status = list_early(all, &names, &desc->freeze_count);
    desc->freeze = names;
    if (status == TSR_OK)
        status = tsr_trainer_create(device, model, desc, &l->trainer);
    tsr_trainer_destroy(all);
    free(names);
    return status;
}

static tsr_status begin(learner *l, tsr_device *device, const tsr_model *model,
                        const tsr_input_shape *input, const lesson *lesson, bool in_steps) {
    tsr_trainer_desc desc = {.loss = TSR_LOSS_MSE,
                             .learning_rate = rate,
                             .shapes = input,
                             .shape_count = 1,
                             .prepare_in_steps = in_steps};
    learner_end(l);
    l->lesson = lesson->number;
    return create(l, device, model, &desc);
}

static tsr_status step(learner *l, const lesson *lesson, double ms) {
    const tsr_array input = {.data = lesson->input, .count = lesson->input_count},
                    target = {.data = lesson->target, .count = lesson->target_count};
    tsr_status status = TSR_OK;
    if (ms <= 0) {
        status = tsr_trainer_step(l->trainer, &input, 1, &target, 1, &l->loss);
    } else {
        if (!l->stepping)
            status = tsr_trainer_begin(l->trainer, &input, 1, &target, 1);
        if (status == TSR_OK)
            status = tsr_trainer_advance(l->trainer, ms, &l->loss);
    }
    l->stepping = status == TSR_NOT_READY;
    l->steps += status == TSR_OK;
    return status;
}

/* After the last step its weights become a model. */
void learner_work(learner *l, tsr_device *device, const tsr_model *model,
                  const tsr_input_shape *input, const lesson *lesson, double ms) {
    tsr_status status;
    if (l->lesson != lesson->number)
        status = begin(l, device, model, input, lesson, ms > 0);
    else if (l->state != LEARNING)
        return;
    else if (l->steps < LESSON_STEPS)
        status = step(l, lesson, ms);
    else if ((status = tsr_trainer_model(l->trainer, &l->model)) == TSR_OK)
        end(l, LEARNED);
    if (status != TSR_OK && status != TSR_NOT_READY)
        fail(l);
}

void learner_end(learner *l) {
    end(l, LEARNING);
    tsr_model_free(l->model);
    *l = (learner){.loss = -1};
}
