/* A device as the layer above the backends sees it: which backend, and that backend's own part. */
#ifndef TSR_DEVICE_H
#define TSR_DEVICE_H

#include "backend/backend.h"
#include "base/cache.h"

/* The kernels that won on one kind of layer: see tune.h. */
typedef struct tsr_tuned_layer {
    tsr_cache_key key;
    const tsr_gpu_kernels *kernels;
} tsr_tuned_layer;

struct tsr_device {
    const tsr_backend *backend;
    tsr_backend_device *own;
    tsr_kernel_choice kernels; /* the caller's */
    int tuned_count, tuned_capacity;
    tsr_tuned_layer *tuned; /* what is known by now */
};

#endif
