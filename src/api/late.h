/* What follows a run: nodes of which shapes, or what has to be constant, are known only when the
 * elements are (tsr_late_nodes). They are prepared and computed by the reference operators after
 * each run. */
#ifndef TSR_API_LATE_H
#define TSR_API_LATE_H

#include "passes/passes.h"

typedef struct tsr_late {
    tsr_late_nodes nodes;
    tsr_graph *graph;  /* these nodes; its values are those of the session's graph */
    tsr_graph *result; /* of the latest run: its outputs are constants; NULL: not computed yet */
} tsr_late;

/* graph: prepared; it outlives *late, which is to be destroyed after a failure, too. */
tsr_status tsr_late_create(const tsr_graph *graph, const tsr_late_nodes *nodes, tsr_late **late);
void tsr_late_destroy(tsr_late *late);

/* Before a run: there is no result any more. */
void tsr_late_forget(tsr_late *late);
/* Computes the result, if there is none yet, from values that `read` gives. */
typedef tsr_status tsr_late_read_fn(void *user, int value, float *floats, size_t count);
tsr_status tsr_late_compute(tsr_late *late, tsr_late_read_fn *read, void *user);

/* Is it an output that these nodes compute? late may be NULL. */
bool tsr_late_has(const tsr_late *late, int value);
/* Such an output: without elements, and perhaps without a shape, while there is no result. */
const tsr_value *tsr_late_value(const tsr_late *late, int value);

#endif
