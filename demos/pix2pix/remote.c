#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct remote {
    worker *worker;
    const tsr_model *model;
    input_info input;
    settings wanted;
    runner runner; /* owned by the thread; others may read it unless it is busy */
    size_t input_count, picture_count, layer_count;
    float *pixels, *picture, *layer;
    lesson lesson; /* of the latest request: a copy */
    bool learns;   /* it was for a step of the lesson */
};

/* ---- on the thread --------------------------------------------------------------------------- */

static bool allocate(remote *r) {
    r->picture_count = (size_t)tsr_shape_count(&r->runner.picture.shape);
    r->layer_count = r->runner.layer.name ? (size_t)tsr_shape_count(&r->runner.layer.shape) : 0;
    r->picture = malloc(r->picture_count * sizeof *r->picture);
    r->lesson.target = malloc(r->picture_count * sizeof *r->lesson.target);
    r->layer = r->layer_count ? malloc(r->layer_count * sizeof *r->layer) : NULL;
    if (r->picture && r->lesson.target && (r->layer || !r->layer_count))
        return true;
    snprintf(r->runner.error, sizeof r->runner.error, "no memory for the network's results");
    return false;
}

static bool open_runner(void *user) {
    remote *r = user;
    return runner_open(&r->runner, r->model, &r->input, &r->wanted, NULL, true) && allocate(r);
}

static tsr_status try_run(remote *r) {
    const runner *n = &r->runner;
    tsr_session *s = n->session;
    tsr_status status = tsr_session_set_input(s, r->input.name, r->pixels, r->input_count);
    if (status == TSR_OK)
        status = tsr_session_run(s);
    if (status == TSR_OK)
        status = tsr_session_get_output(s, n->picture.name, r->picture, r->picture_count);
    if (status == TSR_OK && r->layer_count)
        status = tsr_session_get_output(s, n->layer.name, r->layer, r->layer_count);
    return status;
}

static bool run(remote *r) {
    tsr_status status = try_run(r);
    if (status == TSR_ERROR_DEVICE_LOST) {
        if (!runner_recover(&r->runner, &r->wanted))
            return false;
        status = try_run(r);
    }
    if (status != TSR_OK)
        return runner_fail(&r->runner);
    runner_read_times(&r->runner);
    return true;
}

/* A lesson that fails is no failure of the worker. */
static worker_state serve(void *user) {
    remote *r = user;
    if (r->learns)
        runner_learn(&r->runner, r->model, &r->input, &r->lesson, 0);
    else if (!run(r))
        return WORKER_FAILED;
    return r->learns ? WORKER_IDLE : WORKER_DONE;
}

static void destroy(void *user) {
    remote *r = user;
    runner_close(&r->runner);
    free(r->lesson.input);
    free(r->lesson.target);
    free(r->pixels);
    free(r->picture);
    free(r->layer);
    free(r);
}

/* ---- in the window's thread ------------------------------------------------------------------ */

remote *remote_create(const tsr_model *model, const input_info *input, const settings *wanted) {
    remote *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (remote){.model = model, .input = *input, .wanted = *wanted};
    r->input_count = 3 * (size_t)input->width * (size_t)input->height;
    r->pixels = malloc(r->input_count * sizeof *r->pixels);
    r->lesson.input = malloc(r->input_count * sizeof *r->lesson.input);
    if (r->pixels && r->lesson.input)
        r->worker = worker_create(&(worker_job){r, open_runner, serve, destroy});
    if (r->worker)
        return r;
    destroy(r);
    return NULL;
}

worker *remote_worker(const remote *r) {
    return r->worker;
}

void remote_start(remote *r, const float *input) {
    memcpy(r->pixels, input, r->input_count * sizeof *input);
    r->learns = false;
    worker_request(r->worker);
}

void remote_learn(remote *r, const lesson *lesson) {
    r->lesson.number = lesson->number;
    r->lesson.input_count = lesson->input_count;
    r->lesson.target_count = lesson->target_count;
    memcpy(r->lesson.input, lesson->input, r->input_count * sizeof *lesson->input);
    memcpy(r->lesson.target, lesson->target, r->picture_count * sizeof *lesson->target);
    r->learns = true;
    worker_request(r->worker);
}

learner *remote_learner(remote *r) {
    return &r->runner.learner;
}

remote_result remote_take(remote *r) {
    worker_rest(r->worker);
    return (remote_result){&r->runner, r->picture, r->layer};
}

const char *remote_error(const remote *r) {
    return r->runner.error;
}
