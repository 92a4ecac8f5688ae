/* The network on a worker thread, for backends that do not use the window's context: input and
 * results go through host memory. */
#ifndef PIX2PIX_REMOTE_H
#define PIX2PIX_REMOTE_H

#include "runner.h"
#include "worker.h"

typedef struct remote remote;

/* Starts creating a session. The model must exist until workers_wait(). NULL when out of memory. */
remote *remote_create(const tsr_model *model, const input_info *input, const settings *wanted);
/* With which it goes: after worker_release() and the run in progress. */
worker *remote_worker(const remote *r);

/* Starts a run with a copy of the input's elements, unless it is busy. */
void remote_start(remote *r, const float *input);
/* The same with a step of a lesson. */
void remote_learn(remote *r, const lesson *lesson);
/* The lesson in progress; unless it is busy. */
learner *remote_learner(remote *r);
/* In state WORKER_DONE, valid until the next start: elements of runner's picture and layer (NULL:
 * none). */
typedef struct remote_result {
    const runner *runner;
    const float *picture, *layer;
} remote_result;
remote_result remote_take(remote *r);
/* In state WORKER_FAILED. */
const char *remote_error(const remote *r);

#endif
