/* Error scopes: what WebGPU finds wrong with calls in between, as a status. */
#ifndef TSR_WEBGPU_ERRORS_H
#define TSR_WEBGPU_ERRORS_H

#include "base/error.h"
#include "webgpu/wgpu.h"

typedef struct tsr_backend_device tsr_backend_device;

/* One for each filter. */
enum { TSR_ERROR_SCOPES = 3 };

/* Scopes that were popped; zero-initialised: none. Stays where it is while any is pending. */
typedef struct tsr_popped_errors {
    WGPUFuture futures[TSR_ERROR_SCOPES];
    int pending;       /* the last of these */
    tsr_status status; /* of the first error */
    char message[1024];
} tsr_popped_errors;

/* Around calls that can fail: errors in between become a status, TSR_ERROR_OUT_OF_MEMORY,
 * TSR_ERROR_DEVICE or TSR_ERROR_DEVICE_LOST. what: the step, for the message. Can be nested. */
void tsr_webgpu_push_errors(tsr_backend_device *device);
tsr_status tsr_webgpu_pop_errors(tsr_backend_device *device, const char *what);

/* The same without blocking: pops, then waits at most `timeout` nanoseconds (TSR_NOT_READY). */
void tsr_webgpu_start_pop(tsr_backend_device *device, tsr_popped_errors *errors);
tsr_status tsr_webgpu_finish_pop(tsr_backend_device *device, tsr_popped_errors *errors,
                                 const char *what, uint64_t timeout);
/* Afterwards nothing is written to `errors`. */
void tsr_webgpu_abandon_pop(tsr_backend_device *device, tsr_popped_errors *errors);

/* The status of an error. */
tsr_status tsr_webgpu_error_status(WGPUErrorType type);

#endif
