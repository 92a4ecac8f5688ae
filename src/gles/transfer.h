/* Inputs and outputs in a caller's memory, through a staging texture and a pass. All between begin
 * and end. */
#ifndef TSR_GLES_TRANSFER_H
#define TSR_GLES_TRANSFER_H

#include "backend/backend.h"
#include "gles/program.h"
#include "gles/tensor.h"
#include "gles/upload.h"
#include "gpu/params.h"
#include "gpu/transfer.h"
#include "gpu/weights.h"

typedef struct tsr_gles_pass {
    tsr_program *program;
    tsr_params params;
    tsr_weights *weights; /* NULL if the kernel has no table, or reads a texture of the caller's */
    GLuint table;         /* texture; 0 if the kernel has none */
    GLuint blocks;        /* buffer: the table, if the pass reads it as uniform blocks */
    GLuint framebuffer;   /* of a pass that writes several tensors; else 0 */
    bool clears;          /* its textures first: they hold nothing else, see tsr_plan_clears() */
} tsr_gles_pass;

typedef struct tsr_gles_form {
    tsr_transfer what;
    tsr_program *program; /* NULL: none yet */
} tsr_gles_form;

/* Of one input or output: its latest form, and programs of the forms before. */
typedef struct tsr_gles_transfer {
    tsr_transfer what;
    bool ready;          /* staging texture, program and parameters are those of `what` */
    tsr_gles_pass built; /* its program is one of `forms` */
    tsr_gles_form forms[TSR_TRANSFER_FORMS];
    int next_form;
    tsr_target target; /* the staging texture; its framebuffer for outputs */
    tsr_staging_type type;
    tsr_texel_format format; /* of the texture's floats */
    int width, height, planes;
    tsr_gles_upload uploads[2]; /* of inputs, in turns: one is filled while the device reads the
                                   other */
    int next_upload;
} tsr_gles_transfer;

/* A pixel-pack buffer that an output is copied to. */
typedef struct tsr_gles_readback {
    GLuint buffer;
    size_t bytes;
    bool filled; /* holds the run's result once the fence is signalled */
    tsr_transfer what;
} tsr_gles_readback;

/* Starts compiling the program, unless one of the latest forms had the same; makes the parameters.
 * If it fails the transfer is not ready. */
tsr_status tsr_gles_transfer_prepare(tsr_runner *runner, tsr_gles_transfer *transfer,
                                     tsr_transfer *wanted);
/* Draws the prepared pass; waits for its program. */
tsr_status tsr_gles_transfer_draw(tsr_runner *runner, tsr_gles_transfer *transfer);
/* Uploads elements and draws them into the input's tensor. Without data, only prepares that. */
tsr_status tsr_gles_transfer_in(tsr_runner *runner, int value, const tsr_elements *from);
/* From now on, transfers of the output have the form of `to`. */
tsr_status tsr_gles_transfer_prepare_out(tsr_runner *runner, int output, const tsr_elements *to);
/* Draws an output into its staging texture and starts copying that to a buffer. */
tsr_status tsr_gles_transfer_out(tsr_runner *runner, int output, tsr_gles_readback *to);
/* Waits for the buffer and copies it to the caller's memory. */
tsr_status tsr_gles_readback_copy(const tsr_runner *runner, int value,
                                  const tsr_gles_readback *from, const tsr_elements *to);
void tsr_gles_transfer_destroy(tsr_runner *runner, tsr_gles_transfer *transfer);

#endif
