/* Measures the candidates of one layer. */
#ifndef TSR_AUTOTUNE_MEASURE_H
#define TSR_AUTOTUNE_MEASURE_H

#include "autotune/autotune.h"

/* Runs the node alone with each candidate, interleaved, and picks the fastest; that of least
 * estimate unless another is clearly faster. out_of_memory: at least one candidate failed for lack
 * of memory and might be the best with more. deadline: on tsr_clock_ms(). */
tsr_status tsr_measure_layer(const tsr_autotune_target *target, const tsr_graph *graph, int node,
                             const tsr_runner_options *options, double deadline,
                             tsr_timings *timings, bool *out_of_memory);

#endif
