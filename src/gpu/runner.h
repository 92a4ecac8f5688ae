/* Base of the runners of both GPU backends: the plan, its outputs, its report. Their tsr_runner
 * begins with a tsr_gpu_runner, so that functions below can be members of their tsr_backend. */
#ifndef TSR_GPU_RUNNER_H
#define TSR_GPU_RUNNER_H

#include "backend/backend.h"
#include "gpu/fallback.h"
#include "gpu/transfer.h"

typedef struct tsr_gpu_output {
    int value, tensor; /* tensor TSR_NONE: a constant, which the session has */
} tsr_gpu_output;

typedef struct tsr_gpu_runner {
    const tsr_graph *graph;
    tsr_runner_options options;
    tsr_plan *plan;
    tsr_fallback fallback;
    int output_count;
    tsr_gpu_output *outputs; /* by graph output */
    float *staging;          /* texels of the largest tensor, for nodes on the CPU */
    const char **kernels;    /* by node of the graph: "moments+normalize" */
    double *node_ms;         /* by node of the graph: latest measured, -1 for none */
    double gpu_ms;           /* see tsr_report */
    const void **programs;   /* by pass and transfer; NULL where one before has the same */
    int program_count, cached_programs;
    double compile_ms;
    bool keeps_outputs; /* on the device: runs do not transfer them */
    uint64_t allocated_bytes, packed_bytes;
} tsr_gpu_runner;

/* Makes the plan. `limits` has the fields that the device sets: limits, device,
 * max_loop_iterations, max_sources, block_texels. On failure destroy must be called, too. */
tsr_status tsr_gpu_runner_create(tsr_gpu_runner *runner, const tsr_graph *graph,
                                 const tsr_runner_options *options, const tsr_plan_options *limits);
void tsr_gpu_runner_destroy(tsr_gpu_runner *runner);
/* Allocates staging memory and the tensors of nodes on the CPU. */
tsr_status tsr_gpu_runner_allocate(tsr_gpu_runner *runner);

/* The storage of a value's tensor; TSR_NONE if it has none. */
int tsr_gpu_storage(const tsr_gpu_runner *runner, int value);
/* Is it another runner's? */
bool tsr_gpu_is_bound(const tsr_gpu_runner *runner, int storage);
/* Of the storages that are the runner's own. */
uint64_t tsr_gpu_tensor_bytes(const tsr_gpu_runner *runner);

/* Of what is left of making a session: programs are started, weights packed, programs finished. */
#define TSR_COMPILING_SHARE 0.3
#define TSR_PACKING_SHARE 0.4
/* Progress; TSR_ERROR_CANCELLED if the caller says so. done: passes. */
tsr_status tsr_gpu_report_compiling(const tsr_gpu_runner *runner, int done);
/* done: passes. */
tsr_status tsr_gpu_report_packing(const tsr_gpu_runner *runner, int done);

/* Adds the pass's node to the message of a failure. */
tsr_status tsr_gpu_name_node(const tsr_gpu_runner *runner, const tsr_pass *pass, tsr_status status);

/* Counts the program of a pass or, after the passes, of a transfer; false if one before has it,
 * too.
 */
bool tsr_gpu_count_program(tsr_gpu_runner *runner, int index, const void *program);

/* Does a pass transfer this output in this form? */
bool tsr_gpu_transfers_output(const tsr_gpu_runner *runner, int output, const tsr_elements *to);
/* What a pass transfers to an input: `from`, or *floats made of it, to be freed by the caller after
 * a failure, too; NULL where it is `from`. Stores the input for nodes on the CPU, too. */
tsr_status tsr_gpu_stage_input(tsr_gpu_runner *runner, int value, const tsr_elements *from,
                               tsr_elements *staged, float **floats);
/* Texels of an input's tensor, to be freed, for a transfer that no staging texture or buffer is
 * large enough for. */
tsr_status tsr_gpu_pack_input(const tsr_gpu_runner *runner, int value, const tsr_elements *from,
                              float **texels);
/* Reads a value that is no output which a pass transfers: computed on the CPU, or kept. */
tsr_status tsr_gpu_read_kept(tsr_gpu_runner *runner, int value, const tsr_elements *to,
                             tsr_read_fn *read, void *user);
/* Reads an output of a run: transferred in this form or, where no pass converts it, as floats; else
 * from its tensor, if that still has this run's: `latest`. */
typedef tsr_status tsr_read_output_fn(void *user, int output, const tsr_elements *to);
tsr_status tsr_gpu_read_output(tsr_gpu_runner *runner, int output, const tsr_elements *to,
                               bool latest, tsr_read_output_fn *transferred, tsr_read_fn *tensor,
                               void *user);
/* An output of an earlier run that was not transferred. */
tsr_status tsr_gpu_fail_earlier(const tsr_gpu_runner *runner, int output);
/* An array of floats of the value's shape, without data. */
tsr_elements tsr_gpu_floats_of(const tsr_gpu_runner *runner, int value);
/* Index of the graph input that a value is. */
int tsr_gpu_find_input(const tsr_gpu_runner *runner, int value);

/* Index of the graph output that a value is, TSR_NONE if it is none. */
int tsr_gpu_find_output(const tsr_gpu_runner *runner, int value);

/* Are the elements of a constant of the model read as packed weights alone? */
bool tsr_gpu_only_packs(const tsr_gpu_runner *runner, int constant);

/* For tsr_backend. */
void tsr_gpu_transfer_outputs(tsr_runner *runner, bool transfer);
bool tsr_gpu_can_read(const tsr_runner *runner, int value);
void tsr_gpu_report(const tsr_runner *runner, tsr_report *report);
void tsr_gpu_node_report(const tsr_runner *runner, int node, tsr_node_report *report);
tsr_candidates tsr_gpu_candidates(const tsr_runner *runner, int node);

#endif
