/* Training steps beside runs of the session: how much more a step costs. */
#include "base/random.h"
#include "bench.h"
#include "tessera_train.h"
#include "tool.h"

#include <stdlib.h>

typedef struct lesson {
    tsr_trainer *trainer;
    int input_count;
    tsr_array *inputs, target; /* data: malloc */
} lesson;

static tsr_status make_array(const tsr_tensor_info *info, tsr_random *random, tsr_array *made) {
    size_t count = (size_t)tsr_shape_count(&info->shape);
    float *elements = malloc(count ? count * sizeof *elements : 1);
    if (!elements)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "'%s': not enough memory", info->name);
    for (size_t i = 0; i < count; i++)
        elements[i] = (float)tsr_random_uniform(random);
    *made = (tsr_array){.data = elements, .count = count};
    return TSR_OK;
}

static tsr_status make_arrays(const bench *b, lesson *l) {
    tsr_tensor_info info;
    tsr_random random;
    tsr_random_seed(&random, (uint32_t)b->o->job.seed);
    l->input_count = tsr_model_input_count(b->j->model);
    l->inputs = calloc((size_t)l->input_count + 1, sizeof *l->inputs);
    if (!l->inputs)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < l->input_count; i++) {
        TRY_LIBRARY(tsr_trainer_input(l->trainer, i, &info));
        TRY(make_array(&info, &random, &l->inputs[i]));
    }
    TRY_LIBRARY(tsr_trainer_target(l->trainer, 0, &info));
    return make_array(&info, &random, &l->target);
}

/* L1 and Adam, tuned as the session is. */
static tsr_status make_trainer(const bench *b, int tune_ms, lesson *l) {
    tsr_session_desc shapes = {0};
    TRY(job_describe_shapes(b->j, &shapes));
    const tsr_trainer_desc desc = {.loss = TSR_LOSS_L1,
                                   .dims = shapes.dims,
                                   .dim_count = shapes.dim_count,
                                   .shapes = shapes.shapes,
                                   .shape_count = shapes.shape_count,
                                   .tune_ms = tune_ms,
                                   .progress = {progress_of_call, (void *)b->j->path}};
    tsr_status status = tsr_trainer_create(b->device, b->j->model, &desc, &l->trainer);
    progress_clear();
    job_free_shapes(&shapes);
    return status == TSR_OK ? TSR_OK : fail_library(status);
}

static tsr_status step(const lesson *l, double *ms) {
    float loss;
    double start = now_ms();
    TRY_LIBRARY(tsr_trainer_step(l->trainer, l->inputs, l->input_count, &l->target, 1, &loss));
    *ms = now_ms() - start;
    return TSR_OK;
}

typedef struct turns {
    samples step, run, ratio;
} turns;

static tsr_status take_turn(bench *b, tsr_session *session, const lesson *l, turns *t) {
    double run_ms = 0, step_ms = 0;
    TRY(bench_run(b, session, &run_ms));
    TRY(step(l, &step_ms));
    TRY(samples_add(&t->run, run_ms));
    TRY(samples_add(&t->step, step_ms));
    return samples_add(&t->ratio, step_ms / run_ms);
}

static tsr_status take_turns(bench *b, tsr_session *session, const lesson *l, turns *t) {
    double unused;
    TRY_LIBRARY(tsr_trainer_report(l->trainer, &b->training.report));
    TRY(step(l, &b->training.first_ms));
    for (int i = 0; i < b->o->warmup; i++) {
        TRY(bench_run(b, session, &unused));
        TRY(step(l, &unused));
    }
    double began = now_ms();
    while (bench_goes_on(b->o, t->run.count, began)) {
        bench_progress(b->o, t->run.count, "step beside runs");
        TRY(take_turn(b, session, l, t));
    }
    return TSR_OK;
}

static tsr_status measure(bench *b, tsr_session *session, const lesson *l) {
    turns t = {0};
    tsr_status status = take_turns(b, session, l, &t);
    progress_clear();
    b->training.step = samples_take(&t.step);
    b->training.run = samples_take(&t.run);
    b->training.ratio = samples_take(&t.ratio);
    return status;
}

tsr_status bench_train(bench *b, tsr_session *session, int tune_ms) {
    lesson l = {0};
    tsr_status status = make_trainer(b, tune_ms, &l);
    if (status == TSR_OK)
        status = make_arrays(b, &l);
    if (status == TSR_OK)
        status = measure(b, session, &l);
    for (int i = 0; l.inputs && i < l.input_count; i++)
        free(l.inputs[i].data);
    free(l.inputs);
    free(l.target.data);
    tsr_trainer_destroy(l.trainer);
    return status;
}
