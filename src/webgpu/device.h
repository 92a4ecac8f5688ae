/* A WebGPU device, made here or the caller's: its queue, and how errors become status codes. */
#ifndef TSR_WEBGPU_DEVICE_H
#define TSR_WEBGPU_DEVICE_H

#include "backend/backend.h"
#include "gpu/weights.h"
#include "webgpu/errors.h"
#include "webgpu/program.h"
#include "webgpu/wgpu.h"

struct tsr_backend_device {
    const tsr_wgpu *api;
    WGPUInstance instance;
    WGPUDevice device;
    WGPUQueue queue;
    tsr_device_info info; /* max_buffer_bytes: of one binding */
    WGPULimits limits;    /* those that the adapter offers, or the caller requested */
    char name[256], version[256];
    tsr_device_profile profile;
    tsr_program_cache pipelines;
    tsr_weight_store weights;
    uint64_t runner_count;  /* that were made so far */
    bool adopted;           /* the caller's: it has the callbacks, and destroys the device */
    bool shared;            /* others use it, too: only errors in scopes are of this library */
    WGPUFuture lost_future; /* of an adopted device */
    bool lost;
    char lost_message[512];
    tsr_status error_status; /* of the first error that was not reported yet; TSR_OK: none */
    char error[2048];
};

/* Error scopes around calls during which a device made here reports errors by its callback: a
 * shared one would report them to its owner. Returns such an error, or else status. */
void tsr_webgpu_enter(tsr_backend_device *device);
tsr_status tsr_webgpu_leave(tsr_backend_device *device, tsr_status status, const char *what);
/* Reports the first error outside scopes. */
tsr_status tsr_webgpu_check_error(tsr_backend_device *device, const char *what);

/* Was the device lost? Runs callbacks of the mode AllowProcessEvents, unless it is adopted. */
tsr_status tsr_webgpu_check_lost(tsr_backend_device *device);
/* Waits at most `timeout` nanoseconds (TSR_NOT_READY) until the future's callback, of the mode
 * WaitAnyOnly, was called. Then the future is no more and *pending (may be NULL) false, also where
 * this fails because the device is lost. */
tsr_status tsr_webgpu_wait(tsr_backend_device *device, WGPUFuture future, uint64_t timeout,
                           bool *pending);

/* Ends the encoder, submits what it has, and releases it. */
void tsr_webgpu_submit(const tsr_backend_device *device, WGPUCommandEncoder encoder);

/* Sessions are destroyed before their device. */
tsr_status tsr_webgpu_device_create(const tsr_device_desc *desc, tsr_backend_device **device);
void tsr_webgpu_device_destroy(tsr_backend_device *device);
bool tsr_webgpu_is_lost(tsr_backend_device *device);
void tsr_webgpu_device_info(const tsr_backend_device *device, tsr_device_info *info);
void tsr_webgpu_list_devices(tsr_device_fn fn, void *user);

#endif
