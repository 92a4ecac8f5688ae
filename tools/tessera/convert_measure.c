#define _POSIX_C_SOURCE 200809L
#include "convert.h"
#include "difference.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- differences ----------------------------------------------------------------------------- */

static void compare_classes(const tensor *ours, const tensor *reference, convert_output *result) {
    size_t classes = class_count(&reference->shape);
    for (size_t row = 0; classes && row + classes <= reference->count; row += classes) {
        result->rows++;
        result->same_top +=
            top_index(ours->values + row, classes) == top_index(reference->values + row, classes);
    }
}

static void compare_tensors(const tensor *ours, const tensor *reference, convert_output *result) {
    double lost = 0, sum = 0;
    for (size_t i = 0; i < reference->count; i++) {
        double error = (double)ours->values[i] - reference->values[i];
        lost += error * error;
        sum += (double)reference->values[i] * reference->values[i];
    }
    result->error = lost > 0 ? sqrt(lost / sum) : 0;
    result->largest =
        measure(ours->values, reference->values, reference->count, (tolerance){0}).max_rel;
    compare_classes(ours, reference, result);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* All outputs, `count` tensors, of one run. */
static tsr_status fetch_all(tsr_session *session, int count, tensor *outputs) {
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_session_output(session, i, &info));
        TRY(job_fetch(session, info.name, &info.shape, &outputs[i]));
    }
    return TSR_OK;
}

static tsr_status run(const job *j, tsr_device *device, int count, tensor *outputs) {
    tsr_session *session;
    TRY(job_session(j, device, &(tsr_session_desc){0}, &session));
    tsr_status status = job_set_inputs(j, session);
    progress("%s: running", j->path);
    if (status == TSR_OK && (status = tsr_session_run(session)) != TSR_OK)
        fail_library(status);
    if (status == TSR_OK)
        status = fetch_all(session, count, outputs);
    tsr_session_destroy(session);
    progress_clear();
    return status;
}

/* The converted model with the same inputs: it has the same ones, of sizes that may be fixed. */
static tsr_status run_both(const job *j, const tsr_model *made, tsr_device *device, int count,
                           tensor *reference, tensor *ours) {
    job other = *j;
    TRY(run(j, device, count, reference));
    other.model = (tsr_model *)made;
    other.dim_count = 0; /* names of sizes that are fixed */
    return run(&other, device, count, ours);
}

static tsr_status fill(const job *j, const tensor *ours, const tensor *reference,
                       convert_report *report) {
    for (int i = 0; i < report->output_count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(j->model, i, &info));
        report->outputs[i].name = strdup(info.name);
        if (!report->outputs[i].name)
            return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
        if (!shape_equal(&ours[i].shape, &reference[i].shape))
            return fail(TSR_ERROR_SHAPE, "output '%s' is %s, and was %s", info.name,
                        shape_label(&ours[i].shape).text, shape_label(&reference[i].shape).text);
        compare_tensors(&ours[i], &reference[i], &report->outputs[i]);
    }
    return TSR_OK;
}

tsr_status convert_measure(const job *j, const tsr_model *made, convert_report *report) {
    tsr_device *device;
    int count = tsr_model_output_count(j->model);
    tensor *tensors = calloc(2 * (size_t)count + 1, sizeof *tensors);
    report->outputs = calloc((size_t)count + 1, sizeof *report->outputs);
    report->output_count = report->outputs ? count : 0;
    tsr_status status = tensors && report->outputs
                            ? job_device(j->options, "cpu", &device)
                            : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    if (status == TSR_OK) {
        status = run_both(j, made, device, count, tensors, tensors + count);
        tsr_device_destroy(device);
    }
    if (status == TSR_OK)
        status = fill(j, tensors + count, tensors, report);
    for (int i = 0; tensors && i < 2 * count; i++)
        tensor_free(&tensors[i]);
    free(tensors);
    return status;
}
