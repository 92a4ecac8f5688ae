/* A device as the API layer sees it: which backend, and that backend's device. */
#ifndef TSR_API_DEVICE_H
#define TSR_API_DEVICE_H

#include "api/storage_choice.h"
#include "autotune/autotune.h"

struct tsr_device {
    int references; /* the caller's and one of each session */
    const tsr_backend *backend;
    tsr_backend_device *impl;
    bool fixed_kernels; /* the caller chose them: nothing is tuned */
    tsr_tuned_layers tuned;
    tsr_storage_choices storage;
};

/* Adds a reference; tsr_device_destroy() drops one. */
tsr_device *tsr_device_retain(tsr_device *device);

#endif
