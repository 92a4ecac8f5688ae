/* The test as a program with WebGPU of its own: an instance, a device and buffers, which Tessera
 * adopts. */
#ifndef TESTS_SUPPORT_WEBGPU_CALLER_H
#define TESTS_SUPPORT_WEBGPU_CALLER_H

#include "tessera.h"
#include "webgpu/wgpu.h"

typedef struct webgpu_caller {
    const tsr_wgpu *api;
    WGPUInstance instance;
    WGPUDevice device;
    WGPUQueue queue;
    int errors; /* that reached the device's uncaptured-error callback */
    int losses; /* told by the device's callback */
} webgpu_caller;

typedef struct caller_options {
    bool no_timed_waits; /* an instance without TimedWaitAny */
    bool compatibility;  /* the adapter of a compatibility-mode device, with its lower limits */
    bool no_callbacks;   /* of the device */
    bool no_timestamps;
} caller_options;

/* Ends the test where there is no WebGPU. The struct must not move: callbacks write to it. */
void open_webgpu_caller(webgpu_caller *caller, const caller_options *options);
/* Fails if something is left in an error scope or went to the error callback. */
void close_webgpu_caller(webgpu_caller *caller);
tsr_device_desc adopting(const webgpu_caller *caller);

/* Storage of this many bytes with these contents; NULL: bytes of 0xa5. */
WGPUBuffer make_caller_buffer(const webgpu_caller *caller, WGPUBufferUsage more_usage,
                              const void *contents, uint64_t bytes);
/* Copies the buffer's bytes, after what is in the queue. */
void read_caller_buffer(const webgpu_caller *caller, WGPUBuffer buffer, void *contents,
                        uint64_t bytes);

#endif
