/* Work on several CPU threads, where the system has them; else the calling thread does it all. */
#ifndef TSR_BASE_PARALLEL_H
#define TSR_BASE_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Works on units first to first + count - 1. */
typedef void tsr_parallel_fn(void *user, int64_t first, int64_t count);

enum { TSR_MAX_THREADS = 16 };

/* Work under way; stays where it is until it is finished. */
typedef struct tsr_parallel {
    tsr_parallel_fn *fn;
    void *user;
    int64_t total, step;
    atomic_llong next;
    int thread_count;
    pthread_t threads[TSR_MAX_THREADS];
} tsr_parallel;

/* Begins on other threads, as many as there are processors but one, if all units together have so
 * many bytes that it pays; the caller can do something else meanwhile. */
void tsr_parallel_start(tsr_parallel *work, int64_t total, size_t bytes, tsr_parallel_fn *fn,
                        void *user);
/* Works on what is left; returns when all is done. */
void tsr_parallel_finish(tsr_parallel *work);

#endif
