/* A thread that opens something, which takes long, and then serves one request at a time. */
#ifndef PIX2PIX_WORKER_H
#define PIX2PIX_WORKER_H

#include <stdbool.h>

typedef struct worker worker;

typedef enum worker_state {
    WORKER_BUSY, /* waiting for the previous worker, opening or serving */
    WORKER_IDLE, /* ready for a request */
    WORKER_DONE, /* the same, and has a result */
    WORKER_FAILED
} worker_state;

/* What the thread does with `user`, which others leave alone while it is busy. */
typedef struct worker_job {
    void *user;
    bool (*open)(void *user);          /* false: it fails */
    worker_state (*serve)(void *user); /* a request: the state after it */
    void (*close)(void *user);         /* the last call: frees `user` */
} worker_job;

/* Starts opening. NULL when out of memory: `user` stays the caller's. */
worker *worker_create(const worker_job *job);
/* Does not wait: the thread ends after what is in progress. */
void worker_release(worker *w);
/* Whether all released threads have ended; waits for that. */
bool workers_ended(void);
void workers_wait(void);

worker_state worker_look(worker *w);
/* Starts serving, unless it is busy. */
void worker_request(worker *w);
/* In state WORKER_DONE: the result was taken. */
void worker_rest(worker *w);

#endif
