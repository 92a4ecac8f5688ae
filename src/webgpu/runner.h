/* A plan on a WebGPU device: compiled pipelines, buffers and bind groups, dispatched once per run.
 */
#ifndef TSR_WEBGPU_RUNNER_H
#define TSR_WEBGPU_RUNNER_H

#include "gpu/params.h"
#include "gpu/runner.h"
#include "webgpu/device.h"
#include "webgpu/tensor.h"

typedef struct tsr_webgpu_pass {
    tsr_pipeline *pipeline;
    tsr_params params;
    tsr_weights *weights; /* NULL if the kernel has no table */
    WGPUBindGroup group;
    uint64_t params_at; /* in the runner's params */
    uint32_t groups[3]; /* workgroups to dispatch */
} tsr_webgpu_pass;

/* A buffer that each run copies a result to, mapped once the run is done. */
typedef struct tsr_readback {
    WGPUBuffer buffer; /* NULL where nothing is read back */
    uint64_t bytes;
    WGPUFuture future;
    bool pending, mapped; /* mapped: holds the run's result */
} tsr_readback;

struct tsr_runner {
    tsr_gpu_runner base;
    tsr_backend_device *device;
    bool built;
    WGPUBuffer *storages;  /* by storage */
    WGPUBuffer *constants; /* by tensor; NULL for those that are computed */
    WGPUBuffer params;     /* uniforms of all passes, each at a multiple of the alignment */
    tsr_webgpu_pass *passes;
    tsr_readback *readbacks; /* runs_in_flight times outputs */
    tsr_readback *outputs;   /* of the selected run, by graph output */
    WGPUQuerySet timestamps; /* begin and end of each node's passes; NULL without */
    WGPUBuffer resolved;     /* where the device writes them */
    tsr_readback times;
    bool times_read; /* of the latest run */
};

/* Programs, buffers and bind groups of a planned runner. */
tsr_status tsr_webgpu_build(tsr_runner *runner);
void tsr_webgpu_unbuild(tsr_runner *runner);

/* See tsr_backend. */
tsr_status tsr_webgpu_replace_weights(tsr_runner *runner, int constant, const float *elements);

/* Encodes and submits every pass and the copies to the readback buffers. Waits only before nodes
 * that run on the CPU. */
tsr_status tsr_webgpu_dispatch(tsr_runner *runner);

/* Waits for everything that was submitted. */
tsr_status tsr_webgpu_finish(tsr_backend_device *device);

tsr_status tsr_webgpu_measure(tsr_backend_device *device, tsr_device_peaks *peaks);

/* The buffer that holds a tensor. */
WGPUBuffer tsr_webgpu_buffer(const tsr_runner *runner, int tensor);

int tsr_webgpu_readback_count(const tsr_runner *runner); /* of outputs, of all runs in flight */
/* Drops the result, so that the buffer can be written again. */
void tsr_readback_reset(tsr_runner *runner, tsr_readback *readback);

/* Reads a computed tensor's elements synchronously, through a temporary buffer: a tsr_read_fn. */
tsr_status tsr_webgpu_read_now(void *runner, int tensor, float *elements);

#endif
