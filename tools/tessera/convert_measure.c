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

/* Adds to what earlier runs gave. */
static void compare_tensors(const tensor *ours, const tensor *reference, convert_output *result) {
    for (size_t i = 0; i < reference->count; i++) {
        double error = (double)ours->values[i] - reference->values[i];
        result->lost += error * error;
        result->sum += (double)reference->values[i] * reference->values[i];
    }
    result->error = result->lost > 0 ? sqrt(result->lost / result->sum) : 0;
    result->largest =
        fmax(result->largest,
             measure(ours->values, reference->values, reference->count, (tolerance){0}).max_rel);
    compare_classes(ours, reference, result);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A model in both forms: they have the same inputs, of sizes that may be fixed. */
typedef struct measured {
    job jobs[2];
    tsr_session *sessions[2];
    tensor *outputs[2];
    int count; /* of outputs */
} measured;

/* All outputs of one run. */
static tsr_status run(measured *m, int which) {
    tsr_session *session = m->sessions[which];
    TRY(job_set_inputs(&m->jobs[which], session));
    TRY_LIBRARY(tsr_session_run(session));
    for (int i = 0; i < m->count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_session_output(session, i, &info));
        tensor_free(&m->outputs[which][i]);
        TRY(job_fetch(session, info.name, &info.shape, &m->outputs[which][i]));
    }
    return TSR_OK;
}

static tsr_status compare_outputs(const measured *m, convert_report *report) {
    for (int i = 0; i < m->count; i++) {
        const tensor *reference = &m->outputs[0][i], *ours = &m->outputs[1][i];
        if (!shape_equal(&ours->shape, &reference->shape))
            return fail(TSR_ERROR_SHAPE, "output '%s' is %s, and was %s", report->outputs[i].name,
                        shape_label(&ours->shape).text, shape_label(&reference->shape).text);
        compare_tensors(ours, reference, &report->outputs[i]);
    }
    return TSR_OK;
}

static tsr_status run_both(measured *m, convert_report *report) {
    for (int which = 0; which < 2; which++)
        TRY(run(m, which));
    return compare_outputs(m, report);
}

static tsr_status run_samples(measured *m, calibration *samples, convert_report *report) {
    if (!samples)
        return run_both(m, report);
    for (int sample = 0; sample < samples->count; sample++) {
        progress("%s: comparing, %d of %d", m->jobs[0].path, sample, samples->count);
        TRY(calibration_load(samples, sample));
        TRY(run_both(m, report));
    }
    return TSR_OK;
}

/* ---- both models ----------------------------------------------------------------------------- */

static tsr_status make_sessions(measured *m, tsr_device *device) {
    for (int which = 0; which < 2; which++)
        TRY(job_session(&m->jobs[which], device, &(tsr_session_desc){0}, &m->sessions[which]));
    progress("%s: running", m->jobs[0].path);
    return TSR_OK;
}

static tsr_status name_outputs(const job *j, convert_report *report) {
    for (int i = 0; i < report->output_count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(j->model, i, &info));
        report->outputs[i].name = strdup(info.name);
        if (!report->outputs[i].name)
            return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    }
    return TSR_OK;
}

static tsr_status measure_on(measured *m, tsr_device *device, calibration *samples,
                             convert_report *report) {
    TRY(name_outputs(&m->jobs[0], report));
    tsr_status status = make_sessions(m, device);
    if (status == TSR_OK)
        status = run_samples(m, samples, report);
    for (int which = 0; which < 2; which++)
        tsr_session_destroy(m->sessions[which]);
    progress_clear();
    return status;
}

tsr_status convert_measure(const job *j, const tsr_model *made, calibration *samples,
                           convert_report *report) {
    tsr_device *device;
    int count = tsr_model_output_count(j->model);
    tensor *tensors = calloc(2 * (size_t)count + 1, sizeof *tensors);
    measured m = {.jobs = {*j, *j}, .outputs = {tensors, tensors + count}, .count = count};
    m.jobs[1].model = (tsr_model *)made;
    m.jobs[1].dim_count = 0; /* names of sizes that are fixed */
    report->outputs = calloc((size_t)count + 1, sizeof *report->outputs);
    report->output_count = report->outputs ? count : 0;
    tsr_status status = tensors && report->outputs
                            ? job_device(j->options, "cpu", &device)
                            : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    if (status == TSR_OK) {
        status = measure_on(&m, device, samples, report);
        tsr_device_destroy(device);
    }
    for (int i = 0; tensors && i < 2 * count; i++)
        tensor_free(&tensors[i]);
    free(tensors);
    return status;
}
