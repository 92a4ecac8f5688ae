#define _GNU_SOURCE /* sched_getaffinity */

#include "base/parallel.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* That this process may use. */
static int count_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* The next units; false if there are none. */
static bool work_once(tsr_parallel *w) {
    int64_t first = atomic_fetch_add(&w->next, w->step);
    if (first < w->total)
        w->fn(w->user, first, w->total - first < w->step ? w->total - first : w->step);
    return first < w->total;
}

static void *work_on(void *data) {
    while (work_once(data))
        ;
    return NULL;
}

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a thread's handle has its place");

static bool start_thread(tsr_parallel *w) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_on, w) != 0)
        return false;
    memcpy(&w->threads[w->thread_count++], &thread, sizeof thread);
    return true;
}

static void join_thread(const tsr_parallel *w, int i) {
    pthread_t thread;
    memcpy(&thread, &w->threads[i], sizeof thread);
    pthread_join(thread, NULL);
}

/* They handle no signals: those are the application's threads' business. */
static void start_threads(tsr_parallel *w, int count) {
    sigset_t all, before;
    sigfillset(&all);
    if (count == 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (w->thread_count < count && start_thread(w))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tsr_parallel_start(tsr_parallel *w, int64_t total, size_t bytes, tsr_parallel_fn *fn,
                        void *user) {
    enum { MIN_BYTES = 1 << 19, STEPS = 8 }; /* a tenth of a millisecond; of each thread */
    int processors = bytes < MIN_BYTES ? 1 : count_processors();
    int others = processors < TSR_MAX_THREADS ? processors - 1 : TSR_MAX_THREADS - 1;
    others = total < others ? (int)total : others;
    *w = (tsr_parallel){.fn = fn, .user = user, .total = total};
    atomic_init(&w->next, 0);
    w->step = others > 0 ? total / ((int64_t)(others + 1) * STEPS) + 1 : total;
    start_threads(w, others);
}

bool tsr_parallel_work(tsr_parallel *w, double deadline) {
    while (work_once(w))
        if (tsr_clock_ms() >= deadline)
            return atomic_load(&w->next) >= w->total;
    return true;
}

void tsr_parallel_finish(tsr_parallel *w) {
    work_on(w);
    for (int i = 0; i < w->thread_count; i++)
        join_thread(w, i);
}
