/* Inputs and outputs in a caller's memory, through a staging buffer and a pass. */
#ifndef TSR_WEBGPU_TRANSFER_H
#define TSR_WEBGPU_TRANSFER_H

#include "backend/backend.h"
#include "gpu/params.h"
#include "gpu/transfer.h"
#include "webgpu/mapping.h"

typedef struct tsr_webgpu_pass {
    tsr_pipeline *pipeline;
    tsr_params params;
    tsr_weights *weights; /* NULL if the kernel has no table, or reads a caller's array or pixels */
    WGPUBindGroup group;
    uint64_t params_at; /* in the buffer of parameters */
    uint32_t groups[3]; /* workgroups to dispatch */
} tsr_webgpu_pass;

/* What a pass binds of a buffer. */
typedef struct tsr_webgpu_range {
    WGPUBuffer buffer;
    uint64_t offset, bytes; /* bytes may be WGPU_WHOLE_SIZE */
} tsr_webgpu_range;

typedef struct tsr_webgpu_form {
    tsr_transfer what;
    tsr_pipeline *pipeline; /* NULL: none yet */
} tsr_webgpu_form;

/* Of one input or output: its latest form, and programs of the forms before. One for the caller's
 * buffers has neither staging nor a group, which would keep the last buffer. */
typedef struct tsr_webgpu_transfer {
    tsr_transfer what;
    bool ready;            /* built for `what` */
    tsr_webgpu_pass built; /* its pipeline is one of `forms` */
    tsr_webgpu_form forms[TSR_TRANSFER_FORMS];
    int next_form;
    WGPUBuffer staging, params;
    uint64_t staging_bytes, params_bytes;
    tsr_mapping
        uploads[2]; /* of inputs, in turns: one is filled while the device reads the other */
    int next_upload;
} tsr_webgpu_transfer;

/* Where an output is copied to, mapped once the run is done. */
typedef struct tsr_webgpu_readback {
    tsr_mapping mapping;
    bool filled; /* the run's result was copied to it */
    tsr_transfer what;
} tsr_webgpu_readback;

/* Copies elements to the device and lets a pass write the input's tensor. Without data, only
 * prepares that. */
tsr_status tsr_webgpu_transfer_in(tsr_runner *runner, int value, const tsr_elements *from);
/* From now on, transfers of the output have the form of `to`. */
tsr_status tsr_webgpu_transfer_prepare_out(tsr_runner *runner, int output, const tsr_elements *to);
/* Waits for the program, and makes the readback's buffer as large as the output's transfer. */
tsr_status tsr_webgpu_readback_prepare(tsr_runner *runner, int output, tsr_webgpu_readback *to);
/* Encodes the pass and the copy to the prepared readback's buffer. */
void tsr_webgpu_transfer_out(tsr_runner *runner, int output, WGPUCommandEncoder encoder,
                             tsr_webgpu_readback *to);
/* From the mapped buffer to the caller's memory. */
tsr_status tsr_webgpu_readback_copy(const tsr_runner *runner, int value,
                                    const tsr_webgpu_readback *from, const tsr_elements *to);
/* Submits the pass between the value's tensor and a buffer of the caller's. */
tsr_status tsr_webgpu_transfer_buffer_in(tsr_runner *runner, int value, const tsr_buffer *from);
tsr_status tsr_webgpu_transfer_buffer_out(tsr_runner *runner, int output, const tsr_buffer *to);
/* Submits the pass that makes pixels of an output, and the copy of them to the target's texture. */
tsr_status tsr_webgpu_transfer_draw(tsr_runner *runner, int output, const tsr_pixels *pixels,
                                    const tsr_draw_target *target);
void tsr_webgpu_transfer_destroy(tsr_runner *runner, tsr_webgpu_transfer *transfer);

#endif
