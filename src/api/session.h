/* A session: session.c makes it, session_io.c sets inputs and reads outputs, session_run.c runs
 * it, session_report.c tells what it does,
 * session_dot.c draws its graph, session_weights.c replaces weights. */
#ifndef TSR_API_SESSION_H
#define TSR_API_SESSION_H

#include "api/device.h"
#include "api/late.h"
#include "api/model.h"
#include "api/storage_choice.h"
#include "passes/passes.h"

/* An output that the session stores: one that is also a graph input, which no pass writes; or any
 * output of a backend that has only those of the latest run. */
typedef struct tsr_kept_output {
    int value;
    size_t count;
    float *next; /* the value last set for an input; NULL: the backend computes it */
    float *runs; /* of each run in flight */
} tsr_kept_output;

struct tsr_session {
    tsr_device *device;
    tsr_model *model; /* owns the names and constants that the graph borrows */
    tsr_graph *graph;
    tsr_runner *runner;
    tsr_late *late; /* NULL: nothing follows a run */
    bool plan_only, texture_outputs;
    tsr_status prepared;         /* TSR_NOT_READY in between; a failure is final */
    tsr_progress_meter progress; /* of making the session */
    tsr_runner_options options;  /* with which the runner was made */
    tsr_precision precision;     /* that was asked for */
    bool is_auto;                /* TSR_PRECISION_AUTO on a device that has the choice */
    bool chosen;                 /* then: `storage` is what the runner stores */
    tsr_storage_choice storage;
    bool weights_replaced, keeps_outputs;
    bool stepping; /* a run in steps is in progress */
    int runs_in_flight;
    int submitted;    /* runs that can be read */
    int latest, slot; /* of the latest and of the selected run, 0 to runs_in_flight - 1 */
    bool *input_set;  /* by graph input */
    int kept_count;
    tsr_kept_output *kept_outputs;
    const char **op_texts; /* by node: "Conv+Relu" */
    tsr_autotune_result tuning;
    tsr_optimizer optimizer;
};

/* Prefixes the message with the file's name unless it has it already: lower layers add it where
 * they name a node. */
tsr_status tsr_session_name_file(tsr_status status, const tsr_graph *graph);

/* Fails for a session that was made to plan only, or is not prepared. */
tsr_status tsr_session_check_can_run(const tsr_session *session);
/* Fails if an input has not been set, too. */
tsr_status tsr_session_check_inputs(const tsr_session *session);
/* Of a session with is_auto: takes what an earlier calibration chose, or 32 bits. */
tsr_status tsr_session_find_storage(tsr_session *session);
/* Fails if no run can be read yet. */
tsr_status tsr_session_check_submitted(const tsr_session *session);
/* The elements of a kept output in the selected run. */
float *tsr_session_kept_run(const tsr_session *session, const tsr_kept_output *kept);
/* Computes what follows the run, which is done. */
tsr_status tsr_session_compute_late(tsr_session *session);
/* What a runner tells of node `index` of its graph; op: its text. */
tsr_node_report tsr_report_node(const tsr_device *device, const tsr_runner *runner,
                                const tsr_graph *graph, int index, const char *op);
/* The model's outputs, as values of the graph: a backend may have others. */
const int *tsr_session_outputs(const tsr_session *session, int *count);

#endif
