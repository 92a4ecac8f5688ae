/* What a session consists of. session.c makes it, session_io.c passes tensors in and out,
 * session_run.c runs it; here is what they share. */
#ifndef TSR_API_SESSION_H
#define TSR_API_SESSION_H

#include "api/device.h"
#include "api/model.h"

/* An output that the session keeps itself: one that is a graph input too, for which nothing
 * runs; or any of a backend that has the latest run's only. */
typedef struct tsr_kept_output {
    int value;
    size_t count;
    float *next; /* what an input was set to last; NULL: the backend computes it */
    float *runs; /* of each run in flight */
} tsr_kept_output;

struct tsr_session {
    tsr_device *device;
    tsr_model *model; /* owns the names and constants that the graph borrows */
    tsr_graph *graph;
    tsr_runner *runner;
    bool plan_only, texture_outputs;
    bool stepping; /* a run in steps has begun and is not complete */
    int runs_in_flight;
    int submitted;     /* runs that can be read */
    int latest, place; /* of the latest and of the selected run among those in flight */
    bool *input_set;   /* by graph input */
    int kept_count;
    tsr_kept_output *kept_outputs;
    const char **op_texts; /* by node: "Conv+Relu" */
    tsr_autotune_result tuning;
};

/* Puts the file's name in front of a message without it: lower layers name the file where they name
 * a node. */
tsr_status tsr_session_name_file(tsr_status status, const tsr_graph *graph);

/* Fails for a session that was made to plan only. */
tsr_status tsr_session_check_can_run(const tsr_session *session);
/* Fails as long as no run can be read. */
tsr_status tsr_session_check_submitted(const tsr_session *session);
/* The elements of a kept output in the selected run. */
float *tsr_session_kept_run(const tsr_session *session, const tsr_kept_output *kept);

#endif
