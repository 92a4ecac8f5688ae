/* Buffers that are mapped once the device has done with them: to be read, or to be written again.
 */
#ifndef TSR_WEBGPU_MAPPING_H
#define TSR_WEBGPU_MAPPING_H

#include "webgpu/device.h"

typedef struct tsr_mapping {
    WGPUBuffer buffer; /* NULL: there is none */
    uint64_t bytes;
    WGPUFuture future;
    bool pending, mapped;
} tsr_mapping;

/* Starts mapping, after a submission that uses the buffer. mode: WGPUMapMode_Read or _Write. */
void tsr_mapping_start(const tsr_backend_device *device, tsr_mapping *mapping, WGPUMapMode mode);
/* Waits at most `timeout` nanoseconds: TSR_NOT_READY. */
tsr_status tsr_mapping_finish(tsr_backend_device *device, tsr_mapping *mapping, uint64_t timeout);
/* A buffer of at least `bytes` to upload from, mapped: the mapping's own once the device has done
 * with it, which is waited for, or a larger one in its place. */
tsr_status tsr_mapping_write(tsr_backend_device *device, tsr_mapping *mapping, uint64_t bytes,
                             void **data);
/* Unmaps the buffer, so that the device can use it. */
void tsr_mapping_reset(tsr_backend_device *device, tsr_mapping *mapping);
void tsr_mapping_destroy(tsr_backend_device *device, tsr_mapping *mapping);

#endif
