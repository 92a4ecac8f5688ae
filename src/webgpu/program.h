/* Compute pipelines: compiled once per device, shared by passes and sessions that need the same
 * text. */
#ifndef TSR_WEBGPU_PROGRAM_H
#define TSR_WEBGPU_PROGRAM_H

#include "gpu/program_cache.h"
#include "gpu/program_text.h"
#include "webgpu/errors.h"

/* Where a program's buffers are bound: group 0, all visible to the compute stage. */
enum {
    TSR_BIND_PARAMS,  /* uniform: src/webgpu/shader.h */
    TSR_BIND_OUTPUT,  /* storage, read and written */
    TSR_BIND_TABLE,   /* storage, read; absent where a pass has none */
    TSR_BIND_SOURCES, /* and on; then what else the pass writes */
};

/* Storage buffers of a pass: output, table and sources; a pass without a table may write more. */
enum { TSR_WEBGPU_BUFFERS = 8, TSR_WEBGPU_SOURCES = TSR_WEBGPU_BUFFERS - 2 };

typedef struct tsr_pipeline {
    tsr_cached_program entry; /* text: WGSL */
    WGPUBindGroupLayout layout;
    tsr_popped_errors errors;     /* of the text */
    WGPUComputePipeline pipeline; /* NULL until it is compiled */
    WGPUFuture compiled;
    bool pending;
    char failure[1024]; /* "" unless it could not be compiled */
} tsr_pipeline;

/* Finds a program or starts compiling it in the background: tsr_pipeline_finish says what the
 * compiler finds wrong with the text. */
tsr_status tsr_pipeline_acquire(tsr_backend_device *device, tsr_program_text *text,
                                tsr_pipeline **pipeline);
/* The same for WGSL from tsr_malloc(), whose ownership is transferred; pass: for the message. */
tsr_status tsr_pipeline_acquire_text(tsr_backend_device *device, char *text, const tsr_pass *pass,
                                     tsr_pipeline **pipeline);
/* Waits at most `timeout` nanoseconds: TSR_NOT_READY. */
tsr_status tsr_pipeline_finish(tsr_backend_device *device, tsr_pipeline *pipeline,
                               const tsr_pass *pass, uint64_t timeout);
void tsr_pipeline_release(tsr_backend_device *device, tsr_pipeline *pipeline);
void tsr_pipelines_clear(tsr_backend_device *device);

#endif
