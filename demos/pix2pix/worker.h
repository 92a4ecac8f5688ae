/* The network on a worker thread, for backends that do not use the window's context: input and
 * results go through host memory. */
#ifndef PIX2PIX_WORKER_H
#define PIX2PIX_WORKER_H

#include "runner.h"

typedef struct worker worker;

typedef enum worker_state {
    WORKER_BUSY, /* waiting for the previous worker, creating the session, running or learning */
    WORKER_IDLE, /* ready for an input or a lesson */
    WORKER_DONE, /* the same, and has a result */
    WORKER_FAILED
} worker_state;

/* Starts creating a session. The model must exist until workers_wait(). NULL when out of memory. */
worker *worker_create(const tsr_model *model, const input_info *input, const settings *wanted);
/* Does not wait: the thread ends after the run in progress. */
void worker_release(worker *w);
/* Waits until all released threads have ended. */
void workers_wait(void);

worker_state worker_look(worker *w);
/* Starts a run with a copy of the input's elements, unless it is busy. */
void worker_start(worker *w, const float *input);
/* The same with a step of a lesson. */
void worker_learn(worker *w, const lesson *lesson);
/* The lesson in progress; unless it is busy. */
learner *worker_learner(worker *w);
/* In state WORKER_DONE, valid until the next start: elements of runner's picture and layer (NULL:
 * none). */
typedef struct worker_result {
    const runner *runner;
    const float *picture, *layer;
} worker_result;
worker_result worker_take(worker *w);
/* In state WORKER_FAILED. */
const char *worker_error(const worker *w);
#endif
