/* WebAssembly has one thread: everything is done in the end, by the caller. */
#include "base/parallel.h"

void tsr_parallel_start(tsr_parallel *w, int64_t total, size_t bytes, tsr_parallel_fn *fn,
                        void *user) {
    (void)bytes;
    *w = (tsr_parallel){.fn = fn, .user = user, .total = total};
}

void tsr_parallel_finish(tsr_parallel *w) {
    if (w->total > 0)
        w->fn(w->user, 0, w->total);
}
