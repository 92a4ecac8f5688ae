#include "learn.h"

#include <stdio.h>

/* Of Adam, measured with edges2emoji.onnx: 20 steps leave a fifth of the error where a quarter of
 * a face is painted over. The loss is the squared error: where the picture is right already, its
 * slope is 0, and that of the absolute error is not. */
static const float rate = 2e-4f;

static void end(learner *l, learner_state state) {
    tsr_trainer_destroy(l->plan);
    tsr_trainer_destroy(l->trainer);
    l->plan = l->trainer = NULL;
    l->state = state;
}

static void fail(learner *l) {
    snprintf(l->error, sizeof l->error, "%s", tsr_last_error());
    end(l, LEARNING_FAILED);
}

enum { MOST_NAMES = 512 };

/* Names of the first half of all weights, in the order of the layers that read them, which are
 * valid until the trainer is destroyed. Their number. */
static int list_early(const tsr_trainer *all, const char *names[MOST_NAMES]) {
    tsr_tensor_info info;
    int half = tsr_trainer_parameter_count(all) / 2, count = 0;
    while (count < half && count < MOST_NAMES && tsr_trainer_parameter(all, count, &info) == TSR_OK)
        names[count++] = info.name;
    return count;
}

static tsr_trainer_desc describe(const tsr_input_shape *input) {
    return (tsr_trainer_desc){.loss = TSR_LOSS_MSE,
                              .learning_rate = rate,
                              .shapes = input,
                              .shape_count = 1,
                              .prepare_in_steps = true};
}

static tsr_status plan(learner *l, tsr_device *device, const tsr_model *model,
                       const tsr_input_shape *input, const lesson *lesson) {
    const tsr_trainer_desc desc = describe(input);
    learner_end(l);
    l->lesson = lesson->number;
    return tsr_trainer_create(device, model, &desc, &l->plan);
}

/* What early layers see in a sketch stays: small changes there change all pictures. */
static tsr_status create(learner *l, tsr_device *device, const tsr_model *model,
                         const tsr_input_shape *input, bool in_steps) {
    tsr_trainer_desc desc = describe(input);
    const char *names[MOST_NAMES];
    desc.freeze_count = list_early(l->plan, names);
    desc.freeze = names;
    desc.prepare_in_steps = in_steps;
    tsr_status status = tsr_trainer_create(device, model, &desc, &l->trainer);
    tsr_trainer_destroy(l->plan);
    l->plan = NULL;
    return status;
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

/* One of these takes a frame's time. */
void learner_work(learner *l, tsr_device *device, const tsr_model *model,
                  const tsr_input_shape *input, const lesson *lesson, double ms) {
    tsr_status status = TSR_OK;
    if (l->lesson != lesson->number)
        status = plan(l, device, model, input, lesson);
    else if (l->state != LEARNING)
        return;
    else if (l->plan)
        status = create(l, device, model, input, ms > 0);
    else if (l->steps < LESSON_STEPS)
        status = step(l, lesson, ms);
    else if (!l->model)
        status = tsr_trainer_model(l->trainer, &l->model);
    else
        end(l, LEARNED);
    if (status != TSR_OK && status != TSR_NOT_READY)
        fail(l);
}

void learner_end(learner *l) {
    end(l, LEARNING);
    tsr_model_free(l->model);
    *l = (learner){.loss = -1};
}
