/* Widens float16 constants some time after they were read: a page must not wait for that. */
#include "base/clock.h"
#include "graph/graph.h"

enum { AT_ONCE = 1 << 16 }; /* elements: less than a millisecond */

bool tsr_graph_widen(tsr_graph *graph, double ms) {
    const double end = tsr_clock_ms() + ms;
    for (tsr_narrow *n = graph->narrow; n; n = graph->narrow) {
        const size_t count = n->count < AT_ONCE ? n->count : AT_ONCE;
        tsr_dtype_load(TSR_DTYPE_F16, n->bytes, count, n->elements);
        n->bytes += 2 * count;
        n->elements += count;
        n->count -= count;
        if (n->count == 0)
            graph->narrow = n->next;
        if (tsr_clock_ms() >= end)
            break;
    }
    return !graph->narrow;
}
