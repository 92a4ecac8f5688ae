#define _DEFAULT_SOURCE

#include "worker.h"

#include <pthread.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/resource.h>
#endif

struct worker {
    worker_job job;
    worker_state state;
    bool released;
};

/* One for all workers: it is held only briefly. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ending;   /* released, and not gone yet */
static bool opening; /* one of them opens: the others wait, or are cancelled */

/* Only one opens at a time, even after several requests; an older one may serve. */
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

static void set_state(worker *w, worker_state state) {
    pthread_mutex_lock(&mutex);
    w->state = state;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Publishes the state and waits for the next request; false: the worker is released. */
static bool next_request(worker *w, worker_state state) {
    pthread_mutex_lock(&mutex);
    w->state = state;
    while (!w->released && w->state != WORKER_BUSY)
        pthread_cond_wait(&changed, &mutex);
    bool more = !w->released;
    pthread_mutex_unlock(&mutex);
    return more;
}

static void follow(worker *w) {
    bool good = w->job.open(w->job.user);
    end_turn();
    bool more = next_request(w, good ? WORKER_IDLE : WORKER_FAILED);
    while (more)
        more = next_request(w, w->job.serve(w->job.user));
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
    w->job.close(w->job.user);
    free(w);
    pthread_mutex_lock(&mutex);
    ending--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

worker *worker_create(const worker_job *job) {
    pthread_t thread;
    worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->job = *job;
    if (pthread_create(&thread, NULL, work, w)) {
        free(w);
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

bool workers_ended(void) {
    pthread_mutex_lock(&mutex);
    bool ended = ending == 0;
    pthread_mutex_unlock(&mutex);
    return ended;
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

void worker_request(worker *w) {
    set_state(w, WORKER_BUSY);
}

void worker_rest(worker *w) {
    set_state(w, WORKER_IDLE);
}
