/* Work on several CPU threads, where the system has them; else on the calling thread alone. */
#ifndef TSR_BASE_PARALLEL_H
#define TSR_BASE_PARALLEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Works on units first to first + count - 1. */
typedef void tsr_parallel_fn(void *user, int64_t first, int64_t count);

enum { TSR_MAX_THREADS = 16 };

/* Work in progress; its address must not change until it is finished. */
typedef struct tsr_parallel {
    tsr_parallel_fn *fn;
    void *user;
    int64_t total, step;
    atomic_llong next;
    int thread_count;
    uintptr_t threads[TSR_MAX_THREADS]; /* the system's handles */
} tsr_parallel;

/* Begins on other threads, one fewer than there are processors, no more than units, if all units
 * together have enough bytes; the caller continues meanwhile. */
void tsr_parallel_start(tsr_parallel *work, int64_t total, size_t bytes, tsr_parallel_fn *fn,
                        void *user);
/* Works on units that nobody began, until a time of tsr_clock_ms(), on one step of them at least.
 * True once there are none: tsr_parallel_finish() waits for little then. */
bool tsr_parallel_work(tsr_parallel *work, double deadline);
/* Works on the remaining units; returns when all are done. */
void tsr_parallel_finish(tsr_parallel *work);

#endif
