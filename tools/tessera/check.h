/* The parts of `tessera check`: tests in ONNX's folders (cmd_check.c) and tests of one operator in
 * JSON (check_case.c), which are both run by check_data.c. */
#ifndef TESSERA_CHECK_H
#define TESSERA_CHECK_H

#include "difference.h"
#include "job.h"

typedef struct check_options {
    job_options job;
    char *list, *root;
    char *pattern; /* only tests of JSON files whose names hold it; NULL: all */
    tolerance allowed;
    bool converted; /* models are written as ONNX and read again before they run */
} check_options;

typedef struct check_run {
    const check_options *options;
    tsr_device *device;
    tsr_device *cpu; /* computes what a test expects of it; NULL until one does */
    bool is_cpu;     /* device is of the backend cpu */
    int passed, failed, skipped;
} check_run;

/* Prints the line of a test and counts it: SKIP if status is TSR_ERROR_UNSUPPORTED, FAIL after
 * another failure or if !good, with failure() as the reason, else PASS. note: after the name of one
 * that passes, or NULL. */
void check_report(check_run *run, const char *name, tsr_status status, bool good, const char *note);

/* Inputs and outputs of one run, in the order of the model. */
typedef struct data_set {
    const tsr_model *model;
    int input_count, output_count;
    tensor *inputs, *outputs; /* the outputs that are expected */
    void **packed;            /* of fixed inputs, NULL for the others */
    tsr_tensor_info *infos;
    tsr_input_shape *shapes;
    tsr_fixed_input *fixed;
} data_set;

/* check_data.c. After create, inputs and outputs are empty tensors for the caller to fill; free
 * frees them. */
tsr_status data_set_create(const tsr_model *model, data_set *data);
void data_set_free(data_set *data);
/* Once inputs are filled: those that a GPU needs as constants are packed. */
tsr_status data_set_bind(data_set *data);

/* How a data set runs. */
typedef struct check_place {
    tsr_device *device;
    bool cpu_fallback, poison;
    tsr_precision precision;
    tsr_weight_type weights;
    tolerance allowed; /* of outputs of floating types; others have to be equal */
    bool types_differ; /* an output may have another type than what is expected */
} check_place;
/* As the command's options say. */
check_place check_place_of(const check_run *run);
tsr_status data_set_session(const check_place *place, data_set *data, tsr_session **session);
/* Runs and compares. TSR_OK also for an unexpected result; *good is false then, and failure() names
 * output and element. */
tsr_status data_set_check(const check_place *place, const data_set *data, tsr_session *session,
                          bool *good);
/* Runs, and takes the session's outputs as what is expected. */
tsr_status data_set_take_outputs(data_set *data, tsr_session *session);

/* check_case.c: runs the tests of a JSON file. A file that cannot be read is a failed test. */
void check_json_file(check_run *run, const char *path);

#endif
