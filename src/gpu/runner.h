/* What the runners of both GPU backends have in common: the plan, its outputs, its report. Their
 * tsr_runner begins with a tsr_gpu_runner, so that what needs no more stands in their tables as it
 * is. */
#ifndef TSR_GPU_RUNNER_H
#define TSR_GPU_RUNNER_H

#include "backend/backend.h"
#include "gpu/fallback.h"

typedef struct tsr_gpu_output {
    int value, tensor; /* tensor TSR_NONE: a constant, which the session knows */
} tsr_gpu_output;

typedef struct tsr_gpu_runner {
    const tsr_graph *graph;
    tsr_runner_options options;
    tsr_plan *plan;
    tsr_fallback fallback;
    int output_count;
    tsr_gpu_output *outputs; /* by graph output */
    float *staging;          /* texels of the largest tensor that is transferred */
    const char **kernels;    /* by node of the graph: "moments+normalize" */
    double *node_ms;         /* by node of the graph: latest measured, -1 for none */
    double gpu_ms;           /* see tsr_report */
    int program_count, cached_programs;
    double compile_ms;
    uint64_t allocated_bytes, packed_bytes;
} tsr_gpu_runner;

/* Plans; `limits` holds what the device sets: limits, max_loop_iterations, max_sources, device. On
 * failure destroy must be called, too. */
tsr_status tsr_gpu_runner_create(tsr_gpu_runner *runner, const tsr_graph *graph,
                                 const tsr_runner_options *options, const tsr_plan_options *limits);
void tsr_gpu_runner_destroy(tsr_gpu_runner *runner);
/* Allocates what a run needs in memory: staging and what nodes on the CPU read and write. */
tsr_status tsr_gpu_runner_allocate(tsr_gpu_runner *runner);

/* Puts the node that a pass is made for in front of a failure's message. */
tsr_status tsr_gpu_name_node(const tsr_gpu_runner *runner, const tsr_pass *pass, tsr_status status);

/* Index of the graph output that a value is, TSR_NONE if it is none. */
int tsr_gpu_find_output(const tsr_gpu_runner *runner, int value);

/* Are the elements of a constant of the model read as packed weights alone? */
bool tsr_gpu_only_packs(const tsr_gpu_runner *runner, int constant);

/* For tsr_backend. */
bool tsr_gpu_can_read(const tsr_runner *runner, int value);
void tsr_gpu_report(const tsr_runner *runner, tsr_report *report);
void tsr_gpu_node_report(const tsr_runner *runner, int node, tsr_node_report *report);
tsr_candidates tsr_gpu_candidates(const tsr_runner *runner, int node);

#endif
