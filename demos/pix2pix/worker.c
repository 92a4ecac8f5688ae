#define _DEFAULT_SOURCE

#include "worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/resource.h>
#endif

struct worker {
    worker_state state;
    bool released;
    const tsr_model *model;
    input_info input;
    settings wanted;
    runner runner; /* owned by the thread; others may read it unless it is busy */
    size_t input_count, picture_count, layer_count;
    float *pixels, *picture, *layer;
    lesson lesson; /* of the latest request: a copy */
    bool learns;   /* it was for a step of the lesson */
};

/* One for all workers: it is held only briefly. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ending;   /* released, and not gone yet */
static bool opening; /* one of them makes its session: the others wait, or are cancelled */

static bool allocate(worker *w) {
    w->picture_count = (size_t)tsr_shape_count(&w->runner.picture.shape);
    w->layer_count = w->runner.layer.name ? (size_t)tsr_shape_count(&w->runner.layer.shape) : 0;
    w->picture = malloc(w->picture_count * sizeof *w->picture);
    w->lesson.target = malloc(w->picture_count * sizeof *w->lesson.target);
    w->layer = w->layer_count ? malloc(w->layer_count * sizeof *w->layer) : NULL;
    if (w->picture && w->lesson.target && (w->layer || !w->layer_count))
        return true;
    snprintf(w->runner.error, sizeof w->runner.error, "no memory for the network's results");
    return false;
}

static tsr_status try_run(worker *w) {
    const runner *r = &w->runner;
    tsr_session *s = r->session;
    tsr_status status = tsr_session_set_input(s, w->input.name, w->pixels, w->input_count);
    if (status == TSR_OK)
        status = tsr_session_run(s);
    if (status == TSR_OK)
        status = tsr_session_get_output(s, r->picture.name, w->picture, w->picture_count);
    if (status == TSR_OK && w->layer_count)
        status = tsr_session_get_output(s, r->layer.name, w->layer, w->layer_count);
    return status;
}

static bool run(worker *w) {
    runner *r = &w->runner;
    tsr_status status = try_run(w);
    if (status == TSR_ERROR_DEVICE_LOST) {
        if (!runner_recover(r, &w->wanted))
            return false;
        status = try_run(w);
    }
    if (status != TSR_OK)
        return runner_fail(r);
    runner_read_times(r);
    return true;
}

/* A lesson that fails is no failure of the worker. */
static worker_state serve(worker *w) {
    if (w->learns)
        runner_learn(&w->runner, w->model, &w->input, &w->lesson, 0);
    else if (!run(w))
        return WORKER_FAILED;
    return w->learns ? WORKER_IDLE : WORKER_DONE;
}

static void destroy(worker *w) {
    runner_close(&w->runner);
    free(w->lesson.input);
    free(w->lesson.target);
    free(w->pixels);
    free(w->picture);
    free(w->layer);
    free(w);
}

/* Only one session is made at a time, even after several requests; an older one may run. */
static bool take_turn(worker *w) {
    pthread_mutex_lock(&mutex);
    while (opening && !w->released)
        pthread_cond_wait(&changed, &mutex);
    bool turn = !w->released;
    opening = opening || turn;
    pthread_mutex_unlock(&mutex);
    return turn;
}

static void end_turn(void) {
    pthread_mutex_lock(&mutex);
    opening = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Publishes the state and waits for the next request; false: the worker is released. */
static bool next_run(worker *w, worker_state state) {
    pthread_mutex_lock(&mutex);
    w->state = state;
    while (!w->released && w->state != WORKER_BUSY)
        pthread_cond_wait(&changed, &mutex);
    bool more = !w->released;
    pthread_mutex_unlock(&mutex);
    return more;
}

static void follow(worker *w) {
    bool good = runner_open(&w->runner, w->model, &w->input, &w->wanted, NULL) && allocate(w);
    end_turn();
    bool more = next_run(w, good ? WORKER_IDLE : WORKER_FAILED);
    while (more)
        more = next_run(w, serve(w));
}

/* The window's frames come first: there may be fewer cores than threads that compile shaders. Linux
 * has a priority per thread, which those that it starts have, too; elsewhere it is the process's.
 */
static void yield_to_window(void) {
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 10);
#endif
}

static void *work(void *argument) {
    worker *w = argument;
    yield_to_window();
    if (take_turn(w))
        follow(w);
    destroy(w);
    pthread_mutex_lock(&mutex);
    ending--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

worker *worker_create(const tsr_model *model, const input_info *input, const settings *wanted) {
    pthread_t thread;
    worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (worker){.model = model, .input = *input, .wanted = *wanted};
    w->input_count = 3 * (size_t)input->width * (size_t)input->height;
    w->pixels = malloc(w->input_count * sizeof *w->pixels);
    w->lesson.input = malloc(w->input_count * sizeof *w->lesson.input);
    if (!w->pixels || !w->lesson.input || pthread_create(&thread, NULL, work, w)) {
        destroy(w);
        return NULL;
    }
    pthread_detach(thread);
    return w;
}

void worker_release(worker *w) {
    pthread_mutex_lock(&mutex);
    w->released = true;
    ending++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void workers_wait(void) {
    pthread_mutex_lock(&mutex);
    while (ending > 0)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

worker_state worker_look(worker *w) {
    pthread_mutex_lock(&mutex);
    worker_state state = w->state;
    pthread_mutex_unlock(&mutex);
    return state;
}

static void request(worker *w, bool learns) {
    w->learns = learns;
    pthread_mutex_lock(&mutex);
    w->state = WORKER_BUSY;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void worker_start(worker *w, const float *input) {
    memcpy(w->pixels, input, w->input_count * sizeof *input);
    request(w, false);
}

void worker_learn(worker *w, const lesson *lesson) {
    w->lesson.number = lesson->number;
    w->lesson.input_count = lesson->input_count;
    w->lesson.target_count = lesson->target_count;
    memcpy(w->lesson.input, lesson->input, w->input_count * sizeof *lesson->input);
    memcpy(w->lesson.target, lesson->target, w->picture_count * sizeof *lesson->target);
    request(w, true);
}

learner *worker_learner(worker *w) {
    return &w->runner.learner;
}

worker_result worker_take(worker *w) {
    pthread_mutex_lock(&mutex);
    w->state = WORKER_IDLE;
    pthread_mutex_unlock(&mutex);
    return (worker_result){&w->runner, w->picture, w->layer};
}

const char *worker_error(const worker *w) {
    return w->runner.error;
}
