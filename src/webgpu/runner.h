/* A plan on a WebGPU device: compiled pipelines, buffers and bind groups, dispatched once per run.
 */
#ifndef TSR_WEBGPU_RUNNER_H
#define TSR_WEBGPU_RUNNER_H

#include "gpu/phases.h"
#include "gpu/runner.h"
#include "webgpu/tensor.h"
#include "webgpu/transfer.h"

/* Tables are packed one after the other. */
typedef struct tsr_webgpu_packing {
    float *texels; /* of one table (tsr_malloc) */
    int table;     /* the pass whose table it is; TSR_NONE: none is begun */
    bool packs;    /* threads work on it: */
    tsr_packing work;
    uint64_t written;     /* bytes of it that the device was given */
    uint64_t unsubmitted; /* bytes that it was given since the latest submission */
} tsr_webgpu_packing;

/* How far a runner is built: src/webgpu/build.c. */
typedef struct tsr_webgpu_build_state {
    tsr_gpu_steps steps;
    bool complete;            /* but for the errors: */
    tsr_popped_errors errors; /* of the latest step */
    double compiling_since;   /* when programs were begun, or waited for */
    tsr_webgpu_packing packing;
    char *params; /* to be written to the runner's buffer (tsr_malloc) */
    uint64_t params_at;
} tsr_webgpu_build_state;

struct tsr_runner {
    tsr_gpu_runner base;
    tsr_backend_device *device;
    bool built; /* or begun to be */
    tsr_webgpu_build_state building;
    uint64_t serial;       /* no other runner of the device has it, not even later */
    WGPUBuffer *storages;  /* by storage */
    uint64_t *bound;       /* by storage: serial of the runner that has it; 0: not bound yet */
    bool groups_outdated;  /* a storage was bound since bind groups were made */
    WGPUBuffer *constants; /* by tensor; NULL for those that are computed */
    WGPUBuffer params;     /* uniforms of all passes, each at a multiple of the alignment */
    tsr_webgpu_pass *passes;
    tsr_webgpu_transfer *inputs, *outputs;         /* by graph input and output */
    tsr_webgpu_transfer *buffers_in, *buffers_out; /* the same for the caller's buffers */
    tsr_webgpu_transfer *drawn;     /* by graph output: into a texture of the caller's */
    tsr_webgpu_range staging;       /* what the transfer that is prepared reads or writes */
    tsr_webgpu_readback *readbacks; /* runs_in_flight times outputs */
    tsr_webgpu_readback *run;       /* of the selected run, by graph output */
    tsr_webgpu_readback *latest;    /* of the run that the tensors have results of */
    WGPUQuerySet timestamps;        /* begin and end of each node's passes; NULL without */
    WGPUBuffer resolved;            /* where the device writes them */
    tsr_mapping times;
    bool times_read; /* of the latest run */
};

/* Of what building has to wait for, in nanoseconds. */
static inline uint64_t tsr_webgpu_build_timeout(const tsr_runner *runner) {
    return runner->base.options.prepare_in_steps ? 0 : UINT64_MAX;
}

/* Programs, buffers and bind groups of a planned runner. */
tsr_status tsr_webgpu_build(tsr_runner *runner);
/* The same as a member of tsr_backend: in steps that do not wait. */
tsr_status tsr_webgpu_prepare(tsr_runner *runner, double ms);
void tsr_webgpu_unbuild(tsr_runner *runner); /* of one that is partly built, too */

/* Finds tables of equal keys that other sessions packed, or adds empty ones. */
tsr_status tsr_webgpu_acquire_tables(tsr_runner *runner);
/* Makes a pass's table, unless the device has it; TSR_NOT_READY at the step's deadline. */
tsr_status tsr_webgpu_pack_table(tsr_runner *runner, int pass);
/* After the last table: submits what remains, and lets other runners share the tables. */
void tsr_webgpu_end_packing(tsr_runner *runner);
/* The same of a runner that is not completed: nothing is shared. */
void tsr_webgpu_stop_packing(tsr_runner *runner);
/* Makes the buffer of a tensor, if it is a constant. */
tsr_status tsr_webgpu_build_constant(tsr_runner *runner, int tensor);
void tsr_webgpu_release_weights(tsr_runner *runner, int pass);
/* See tsr_backend. */
tsr_status tsr_webgpu_replace_weights(tsr_runner *runner, int constant, const float *elements);

/* Encodes and submits every pass and the copies to the readback buffers. Waits only before nodes
 * that run on the CPU. */
tsr_status tsr_webgpu_dispatch(tsr_runner *runner);

/* Waits for everything that was submitted. */
tsr_status tsr_webgpu_finish(tsr_backend_device *device);

tsr_status tsr_webgpu_measure(tsr_backend_device *device, tsr_device_peaks *peaks);

/* The buffer that holds a tensor, other than the staging tensor. */
WGPUBuffer tsr_webgpu_buffer(const tsr_runner *runner, int tensor);
/* Does a pass convert an input in this form? Otherwise the CPU packs its texels. */
bool tsr_webgpu_converts(const tsr_runner *runner, int value, const tsr_elements *from);

int tsr_webgpu_readback_count(const tsr_runner *runner); /* of outputs, of all runs in flight */

/* Starts compiling a pass's program, unless the device has it, and makes its parameters. */
tsr_status tsr_webgpu_start_pipeline(tsr_runner *runner, const tsr_pass *pass,
                                     tsr_webgpu_pass *built);
/* params: the buffer that has its parameters; table: not used if the kernel has none. */
WGPUBindGroup tsr_webgpu_make_group(const tsr_runner *runner, const tsr_pass *pass,
                                    const tsr_webgpu_pass *built, WGPUBuffer params,
                                    tsr_webgpu_range table);
/* Makes the group of a pass of the plan, in place of one that it has. */
void tsr_webgpu_bind_pass(tsr_runner *runner, int pass);
/* Workgroups of 64 invocations, one for each texel of the output, unless the pass has its own. */
void tsr_webgpu_set_groups(const tsr_plan *plan, const tsr_pass *pass, uint32_t groups[3]);

/* Reads a computed tensor's elements synchronously, through a temporary buffer: a tsr_read_fn. */
tsr_status tsr_webgpu_read_now(void *runner, int tensor, float *elements);

#endif
