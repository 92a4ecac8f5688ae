/* Which algorithm computes each convolution and matrix product: all candidates of a layer are
 * measured once; tuned_layers.h stores the results. A result for which memory ran
 * out is not stored on disk: that may be temporary. */
#ifndef TSR_AUTOTUNE_AUTOTUNE_H
#define TSR_AUTOTUNE_AUTOTUNE_H

#include "autotune/tuned_layers.h"
#include "backend/backend.h"

typedef struct tsr_autotune_target {
    const tsr_backend *backend;
    tsr_backend_device *device;
    tsr_tuned_layers *tuned; /* read and extended */
} tsr_autotune_target;

typedef struct tsr_autotune_result {
    tsr_node_choice *choices; /* by node; NULL: nothing was chosen */
    int *tuned;               /* by node: index into target.tuned, or TSR_NONE */
    int measured;             /* kinds of layers, of this graph */
    double ms;                /* wall time */
} tsr_autotune_result;

/* budget_ms: tsr_session_desc.tune_ms. options: of the runner that will be made; with plan_only
 * nothing is measured. Fails only when out of memory or cancelled: algorithms that cannot compute a
 * layer are not chosen. The lists are in the graph's arena. */
tsr_status tsr_autotune(const tsr_autotune_target *target, tsr_graph *graph,
                        const tsr_runner_options *options, int budget_ms,
                        tsr_autotune_result *result);

#endif
