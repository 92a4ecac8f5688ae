/* WebAssembly has one thread, the caller's. */
#include "base/parallel.h"

#include "base/clock.h"

void tsr_parallel_start(tsr_parallel *w, int64_t total, size_t bytes, tsr_parallel_fn *fn,
                        void *user) {
    enum { STEP_BYTES = 1 << 18 }; /* a fraction of a millisecond */
    *w = (tsr_parallel){.fn = fn, .user = user, .total = total};
    w->step = total / (int64_t)(bytes / STEP_BYTES + 1) + 1;
}

bool tsr_parallel_work(tsr_parallel *w, double deadline) {
    while (w->next < w->total) {
        int64_t left = w->total - w->next;
        w->fn(w->user, w->next, left < w->step ? left : w->step);
        w->next += w->step;
        if (tsr_clock_ms() >= deadline)
            break;
    }
    return w->next >= w->total;
}

void tsr_parallel_finish(tsr_parallel *w) {
    while (!tsr_parallel_work(w, tsr_clock_ms()))
        ;
}
