#define _POSIX_C_SOURCE 200809L

#include "base/parallel.h"

#include <unistd.h>

static void *work_on(void *data) {
    tsr_parallel *w = data;
    for (;;) {
        int64_t first = atomic_fetch_add(&w->next, w->step);
        if (first >= w->total)
            return NULL;
        w->fn(w->user, first, w->total - first < w->step ? w->total - first : w->step);
    }
}

void tsr_parallel_start(tsr_parallel *w, int64_t total, size_t bytes, tsr_parallel_fn *fn,
                        void *user) {
    enum { MIN_BYTES = 1 << 19, STEPS = 8 }; /* a tenth of a millisecond; of each thread */
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int others = processors < TSR_MAX_THREADS ? (int)processors - 1 : TSR_MAX_THREADS - 1;
    if (bytes < MIN_BYTES)
        others = 0;
    *w = (tsr_parallel){.fn = fn, .user = user, .total = total};
    atomic_init(&w->next, 0);
    w->step = others > 0 ? total / ((int64_t)(others + 1) * STEPS) + 1 : total;
    while (w->thread_count < others &&
           pthread_create(&w->threads[w->thread_count], NULL, work_on, w) == 0)
        w->thread_count++;
}

void tsr_parallel_finish(tsr_parallel *w) {
    work_on(w);
    for (int i = 0; i < w->thread_count; i++)
        pthread_join(w->threads[i], NULL);
}
