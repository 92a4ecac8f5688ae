/* Measures the candidate kernels of one layer. */
#ifndef TSR_AUTOTUNE_MEASURE_H
#define TSR_AUTOTUNE_MEASURE_H

#include "autotune/autotune.h"

typedef struct tsr_measurement {
    const tsr_gpu_kernels *best; /* NULL: no candidate runs, or time ran out */
    bool out_of_memory; /* for at least one candidate: with more memory another may be the best */
} tsr_measurement;

/* Runs one node alone with each candidate, interleaved, and picks the fastest: the default kernels
 * unless another candidate is clearly faster. deadline: on tsr_clock_ms(). */
tsr_status tsr_measure_layer(const tsr_autotune_target *target, const tsr_graph *graph, int node,
                             const tsr_runner_options *options, const tsr_kernel_offer *offer,
                             double deadline, tsr_measurement *result);

#endif
