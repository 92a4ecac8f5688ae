/* Which kernels compute each convolution and matrix product. Every kind of layer is measured once:
 * the device remembers the choice, the cache on disk keeps it for other processes, unless some
 * kernels were left out for want of memory, which may pass. */
#ifndef TSR_TUNE_H
#define TSR_TUNE_H

#include "device.h"

typedef struct tsr_tuning {
    const tsr_gpu_kernels **kernels; /* by node; see tsr_runner_options.kernels */
    int measured;                    /* kinds of layers, of this graph */
    double ms;                       /* that it took */
} tsr_tuning;

/* budget_ms: tsr_session_desc.tune_ms. options: of the runner that will be made; where it is only
 * planned nothing is measured. Fails for want of memory only: kernels that cannot compute a layer
 * are not chosen. The list lives in the graph's arena. */
tsr_status tsr_tune(tsr_device *device, tsr_graph *graph, const tsr_runner_options *options,
                    int budget_ms, tsr_tuning *tuning);

typedef struct tsr_race_result {
    const tsr_gpu_kernels *winner;
    bool starved; /* some found no memory: where there is more, others may win */
} tsr_race_result;

/* Runs one node by itself with each kind of kernels in turns and names the fastest, the device's
 * own where no other is clearly faster; NULL if none can compute it, or the time is over before all
 * are measured. deadline: on tsr_clock_ms(). */
tsr_status tsr_race(const tsr_device *device, const tsr_graph *graph, int node,
                    const tsr_runner_options *options, const tsr_kernel_offer *offer,
                    double deadline, tsr_race_result *result);

#endif
