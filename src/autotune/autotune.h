/* Which kernels compute each convolution and matrix product. Every kind of layer is measured once:
 * the device keeps the choice in memory, the cache on disk keeps it for other processes, unless
 * some candidates were left out because memory ran out, which may be temporary. */
#ifndef TSR_AUTOTUNE_AUTOTUNE_H
#define TSR_AUTOTUNE_AUTOTUNE_H

#include "backend/backend.h"
#include "base/cache.h"

/* The fastest kernels for one kind of layer. */
typedef struct tsr_tuned_layer {
    tsr_cache_key key;
    const tsr_gpu_kernels *kernels;
} tsr_tuned_layer;

/* All that is known of a device; zero-initialised, freed with tsr_tuned_layers_free. */
typedef struct tsr_tuned_layers {
    int count, capacity;
    tsr_tuned_layer *layers;
} tsr_tuned_layers;

void tsr_tuned_layers_free(tsr_tuned_layers *tuned);

typedef struct tsr_autotune_target {
    const tsr_backend *backend;
    tsr_backend_device *device;
    tsr_tuned_layers *tuned; /* read and extended */
} tsr_autotune_target;

typedef struct tsr_autotune_result {
    const tsr_gpu_kernels **kernels; /* by node; see tsr_runner_options.kernels */
    int measured;                    /* kinds of layers, of this graph */
    double ms;                       /* wall time */
} tsr_autotune_result;

/* budget_ms: tsr_session_desc.tune_ms. options: of the runner that will be made; where it is only
 * planned nothing is measured. Fails only when out of memory: kernels that cannot compute a layer
 * are not chosen. The list lives in the graph's arena. */
tsr_status tsr_autotune(const tsr_autotune_target *target, tsr_graph *graph,
                        const tsr_runner_options *options, int budget_ms,
                        tsr_autotune_result *result);

#endif
