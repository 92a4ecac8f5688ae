/* A plan on a GLES device: compiled programs and textures, drawn once per run. */
#ifndef TSR_GLES_RUNNER_H
#define TSR_GLES_RUNNER_H

#include "gles/device.h"
#include "gles/transfer.h"
#include "gpu/phases.h"
#include "gpu/runner.h"

typedef struct tsr_gles_run {
    tsr_gles_readback *outputs; /* by graph output */
    GLsync fence;               /* NULL once it was waited for */
} tsr_gles_run;

/* A table that is being packed into memory from which it is uploaded. */
typedef struct tsr_gles_packing {
    int pass; /* TSR_NONE: none is */
    tsr_gles_upload upload;
    tsr_packing packing;
} tsr_gles_packing;

/* How far a runner is built. */
typedef struct tsr_gles_building {
    tsr_gpu_steps steps;
    tsr_gles_packing packing[2]; /* one is packed while the other is uploaded */
    int slot;                    /* which of them is free */
    GLsync fence;                /* after all of it; NULL before */
} tsr_gles_building;

struct tsr_runner {
    tsr_gpu_runner base;
    tsr_backend_device *device;
    bool built;      /* may hold GL objects */
    unsigned errors; /* of the device, when preparing or the latest run began */
    tsr_gles_building building;
    struct tsr_precompiling *precompiling; /* while it goes on: precompile.h */
    tsr_target *targets; /* by storage */
    tsr_target *doubles; /* by tensor: framebuffers of tensors in two storages; else 0 */
    GLuint *constants;   /* by tensor; 0 for those that are computed */
    GLuint blocks;       /* buffer: uniform blocks of the pass being drawn, copied from a source */
    tsr_gles_pass *passes;               /* by pass of the plan */
    tsr_gles_transfer *inputs, *outputs; /* by graph input and output */
    tsr_gles_transfer *drawn;            /* by graph output: into a target of the caller's */
    const tsr_target *staging;           /* of the output being transferred */
    int next_pass;                       /* of a run in steps */
    int submitted;                       /* passes by submit_before(): submit() draws the rest */
    double *pass_ms;      /* by pass: time in the latest run in steps; 0: not known yet */
    GLuint *timers;       /* by node of the graph; NULL without timers */
    tsr_gles_run *runs;   /* runs_in_flight of them */
    tsr_gles_run *run;    /* the selected one */
    tsr_gles_run *latest; /* the one that the tensors have results of */
};

/* Programs, textures and tables of a planned runner, in steps that do not wait if it was asked for:
 * see tsr_backend.prepare. ms: INFINITY if not. Between begin and end. */
tsr_status tsr_gles_build(tsr_runner *runner, double ms);
void tsr_gles_unbuild(tsr_runner *runner);
/* Ends threads that still build. Makes no GL calls. */
void tsr_gles_stop_threads(tsr_runner *runner);
/* Starts compiling a pass's program, unless the device has it. */
tsr_status tsr_gles_start_program(tsr_runner *runner, const tsr_pass *pass, tsr_gles_pass *built);
/* Makes the table of pass i, unless the device has it; passes come in turn. TSR_NOT_READY: again
 * later. */
tsr_status tsr_gles_pack_table(tsr_runner *runner, int i);
/* After the last pass. TSR_NOT_READY: again later. */
tsr_status tsr_gles_finish_tables(tsr_runner *runner);
/* After the tables: makes a tensor, if it is constant. */
tsr_status tsr_gles_build_constant(tsr_runner *runner, int tensor);
/* Ends threads that still pack. Makes no GL calls. */
void tsr_gles_stop_packing(tsr_runner *runner);
/* Frees what packing needed. */
void tsr_gles_end_packing(tsr_runner *runner);
void tsr_gles_release_weights(tsr_runner *runner, int pass);
/* See tsr_backend. Between begin and end. */
tsr_status tsr_gles_replace_weights(tsr_runner *runner, int constant, const float *elements);
/* Leaves the pass's framebuffer bound, to read from, too. */
void tsr_gles_draw_pass(const tsr_runner *runner, const tsr_pass *pass, const tsr_gles_pass *built);
/* Logs the pass for debugging in the first run, in which many drivers compile its program: what
 * they print then follows its line. (The platform's own: src/gles/native.) */
void tsr_gles_log_pass(const tsr_runner *runner, const tsr_pass *pass, const tsr_program *program);
/* Draws passes begin to end - 1. Waits only before nodes that run on the CPU. */
tsr_status tsr_gles_draw(tsr_runner *runner, int begin, int end);
/* Draws them as part of a run. begin 0 starts it: notes the device's error count, and poisons
 * tensors if the runner's options ask for it. */
tsr_status tsr_gles_submit(tsr_runner *runner, int begin, int end);
/* See tsr_backend. */
tsr_status tsr_gles_submit_before(tsr_runner *runner, const int *values, int count);
/* End of the passes that are drawn together: those of a node that is timed, the copies to all
 * output textures, so that these change at once, otherwise a single pass. */
int tsr_gles_group_end(const tsr_runner *runner, int begin);
/* Draws passes from next_pass on for about `ms` milliseconds, at least one, and waits for them. */
tsr_status tsr_gles_draw_for(tsr_runner *runner, double ms);
/* See tsr_backend. */
tsr_status tsr_gles_set_input_texture(tsr_runner *runner, int value, const tsr_texture *texture,
                                      float factor, float summand);

/* See tsr_backend. */
tsr_status tsr_gles_draw_output(tsr_runner *runner, int value, const tsr_pixels *pixels,
                                const tsr_draw_target *target);

/* What was drawn or uploaded since r->errors was set is right: where errors are asked for late, one
 * of this session's may have been found in the name of another. After a fence. */
tsr_status tsr_gles_check_runner(const tsr_runner *runner, const char *what);

/* The target that holds a computed tensor. */
const tsr_target *tsr_gles_target(const tsr_runner *runner, int tensor);
/* Reads a computed tensor's elements synchronously, through a temporary buffer: a tsr_read_fn. */
tsr_status tsr_gles_read_now(void *runner, int tensor, float *elements);

#endif
