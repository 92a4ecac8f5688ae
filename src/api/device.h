/* A device as the API layer sees it: which backend, and that backend's device. */
#ifndef TSR_API_DEVICE_H
#define TSR_API_DEVICE_H

#include "autotune/autotune.h"

struct tsr_device {
    const tsr_backend *backend;
    tsr_backend_device *impl;
    bool fixed_kernels; /* the caller chose them: nothing is tuned */
    tsr_tuned_layers tuned;
};

#endif
