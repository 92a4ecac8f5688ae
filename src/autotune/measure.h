/* Measures the candidates of one layer. */
#ifndef TSR_AUTOTUNE_MEASURE_H
#define TSR_AUTOTUNE_MEASURE_H

#include "autotune/autotune.h"

/* Runs one node alone with each candidate, interleaved, and picks the fastest: that of the least
 * estimate unless another is clearly faster. deadline: on tsr_clock_ms(); where it passes before
 * each has run once, none is picked. complete: no candidate lacked memory or time, of which another
 * time there may be more. A single candidate is picked without a time.
 * options->progress: the layer's part. Fails only when out of memory or cancelled. */
tsr_status tsr_measure_layer(const tsr_autotune_target *target, const tsr_graph *graph, int node,
                             const tsr_runner_options *options, double deadline,
                             tsr_timings *timings, bool *complete);

#endif
