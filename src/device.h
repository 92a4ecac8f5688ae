/* A device as the layer above the backends sees it: which backend, and that backend's own part. */
#ifndef TSR_DEVICE_H
#define TSR_DEVICE_H

#include "backend/backend.h"

struct tsr_device {
    const tsr_backend *backend;
    tsr_backend_device *own;
};

#endif
