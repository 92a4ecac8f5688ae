#include "learn.h"

#include <stdio.h>

/* Adam moves each weight by about this in a step, however small its gradient: the same correction,
 * not another picture. */
static const float rate = 2e-5f;

static void end(learner *l, learner_state state) {
    tsr_trainer_destroy(l->trainer);
    l->trainer = NULL;
    l->state = state;
}

static void fail(learner *l) {
    snprintf(l->error, sizeof l->error, "%s", tsr_last_error());
    end(l, LEARNING_FAILED);
}

static tsr_status begin(learner *l, tsr_device *device, const tsr_model *model,
                        const tsr_input_shape *input, const lesson *lesson, bool in_steps) {
    const tsr_trainer_desc desc = {.loss = TSR_LOSS_L1,
                                   .learning_rate = rate,
                                   .shapes = input,
                                   .shape_count = 1,
                                   .prepare_in_steps = in_steps};
    learner_end(l);
    *l = (learner){.lesson = lesson->number, .loss = -1};
    return tsr_trainer_create(device, model, &desc, &l->trainer);
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
