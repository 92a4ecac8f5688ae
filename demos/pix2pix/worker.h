/* The network on a thread of its own, on backends that do not work in the window's context: input
 * and results go through memory. */
#ifndef PIX2PIX_WORKER_H
#define PIX2PIX_WORKER_H

#include "runner.h"

typedef struct worker worker;

typedef enum worker_state {
    WORKER_BUSY, /* waiting for the worker before to end, making the session, or running */
    WORKER_IDLE, /* takes an input */
    WORKER_DONE, /* so it does, and there is a result */
    WORKER_FAILED
} worker_state;

/* Starts making a session. The model must live until workers_wait(). NULL when out of memory. */
worker *worker_create(const tsr_model *model, const input_info *input, const settings *wanted);
/* Never waits: a run that is under way ends by itself, and so does the thread then. */
void worker_release(worker *w);
/* Until all threads that were released have ended. */
void workers_wait(void);

worker_state worker_look(worker *w);
/* Unless it is busy: the input's elements, which are copied, and off it goes. */
void worker_start(worker *w, const float *input);
/* Of WORKER_DONE, until the next start: elements of runner's picture and layer (NULL for none). */
typedef struct worker_result {
    const runner *runner;
    const float *picture, *layer;
} worker_result;
worker_result worker_take(worker *w);
/* Of WORKER_FAILED. */
const char *worker_error(const worker *w);
#endif
