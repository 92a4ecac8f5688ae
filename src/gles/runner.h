/* A plan on a GLES device: programs compiled, textures made, ready to be drawn many times. */
#ifndef TSR_GLES_RUNNER_H
#define TSR_GLES_RUNNER_H

#include "gles/device.h"
#include "gles/texture.h"

typedef struct tsr_gles_pass {
    tsr_program *program;
    GLuint table;                     /* texture; 0 if the kernel has none */
    GLint uniforms[TSR_MAX_UNIFORMS]; /* locations */
} tsr_gles_pass;

typedef struct tsr_gles_output {
    int value, tensor;
    GLuint buffer;  /* pixel-pack buffer that a run's result is copied to */
    bool in_buffer; /* holds the latest run's result, or will when the fence is passed */
} tsr_gles_output;

struct tsr_runner {
    tsr_backend_device *device;
    const tsr_graph *graph;
    tsr_runner_options options;
    tsr_plan *plan;
    bool built; /* may hold GL objects */
    int target_count, program_count, output_count;
    tsr_target *targets;   /* by storage */
    GLuint *constants;     /* by tensor; 0 for those that are computed */
    tsr_gles_pass *passes; /* by pass of the plan */
    GLuint *timers;        /* by node of the graph; NULL without timers */
    double *node_ms;
    tsr_gles_output *outputs; /* by graph output */
    float *staging;           /* texels of the largest tensor that is transferred */
    void **cpu_data; /* by value: elements of what nodes on the CPU read and write; NULL without
                        such nodes */
    GLsync fence;    /* of the latest run, until it was waited for */
    double compile_ms;
    uint64_t allocated_bytes;
};

tsr_status tsr_gles_runner_create(tsr_backend_device *device, const tsr_graph *graph,
                                  const tsr_runner_options *options, tsr_runner **runner);
void tsr_gles_runner_destroy(tsr_runner *runner);

/* Programs, textures and tables of a planned runner. Inside enter and leave. */
tsr_status tsr_gles_build(tsr_runner *runner);
void tsr_gles_unbuild(tsr_runner *runner);
/* Draws every pass. Waits only before nodes that run on the CPU. */
tsr_status tsr_gles_draw(tsr_runner *runner);

/* Nodes on the CPU between passes: src/gles/fallback.c. */
bool tsr_gles_falls_back(const tsr_runner *runner);
tsr_status tsr_gles_fallback_create(tsr_runner *runner);
void tsr_gles_fallback_destroy(tsr_runner *runner);
tsr_status tsr_gles_run_on_cpu(tsr_runner *runner, const tsr_pass *pass);
void tsr_gles_upload(tsr_runner *runner, const tsr_pass *pass);

/* The target that holds a computed tensor. */
const tsr_target *tsr_gles_target(const tsr_runner *runner, int tensor);
/* Reads a computed tensor's elements now, through a buffer of its own. */
tsr_status tsr_gles_read_now(const tsr_runner *runner, int tensor, float *elements);

#endif
