#include "bench.h"
#include "json.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* ---- runs ------------------------------------------------------------------------------------ */

tsr_status bench_read_output(bench *b, tsr_session *session, int index) {
    tsr_tensor_info info;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    size_t elements = (size_t)tsr_shape_count(&info.shape);
    float **output = &b->outputs[index];
    if (!*output)
        *output = calloc(elements ? elements : 1, sizeof **output);
    if (!*output)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "output '%s': not enough memory", info.name);
    TRY_LIBRARY(tsr_session_get_output(session, info.name, *output, elements));
    return TSR_OK;
}

tsr_status bench_run(bench *b, tsr_session *session, double *ms) {
    double start = now_ms();
    TRY(job_set_inputs(b->j, session));
    double fed = now_ms();
    TRY_LIBRARY(tsr_session_run(session));
    double ran = now_ms();
    for (int i = 0; i < b->output_count; i++)
        TRY(bench_read_output(b, session, i));
    double end = now_ms();
    b->latest = (run_times){fed - start, ran - fed, end - ran};
    *ms = end - start;
    return TSR_OK;
}

/* An idle GPU lowers its clock and needs time to raise it again. */
tsr_status bench_warm_up(bench *b, tsr_session *session, bool timed) {
    enum { CLOCK_MS = 500 };
    double unused, end = now_ms() + (b->info.is_cpu ? 0 : CLOCK_MS);
    progress("warming up");
    for (int i = 0; i <= b->o->warmup || now_ms() < end; i++)
        if (timed)
            TRY_LIBRARY(tsr_session_run(session));
        else
            TRY(bench_run(b, session, &unused));
    return TSR_OK;
}

/* Keeps the times in their order and, for statistics, once more. */
static tsr_status time_runs(bench *b, tsr_session *session, samples *latency) {
    double ms, began = now_ms();
    while (bench_goes_on(b->o, b->samples.count, began)) {
        bench_progress(b->o, b->samples.count, "run");
        TRY(bench_run(b, session, &ms));
        TRY(samples_add(&b->samples, ms));
        TRY(samples_add(latency, ms));
    }
    b->steady.runs = b->samples.count;
    b->steady.seconds = (now_ms() - began) * 1e-3;
    return TSR_OK;
}

static tsr_status steady_runs(bench *b, tsr_session *session) {
    samples latency = {0};
    TRY(bench_warm_up(b, session, false));
    tsr_status status = time_runs(b, session, &latency);
    progress_clear();
    b->steady.latency = samples_take(&latency);
    return status;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static uint64_t tensor_bytes(const tsr_tensor_info *info) {
    return (uint64_t)tsr_shape_count(&info->shape) * sizeof(float);
}

static tsr_status count_transfers(bench *b, const tsr_session *session) {
    tsr_tensor_info info;
    for (int i = 0; i < tsr_session_input_count(session); i++) {
        TRY_LIBRARY(tsr_session_input(session, i, &info));
        b->upload_bytes += tensor_bytes(&info);
    }
    for (int i = 0; i < b->output_count; i++) {
        TRY_LIBRARY(tsr_session_output(session, i, &info));
        b->readback_bytes += tensor_bytes(&info);
    }
    return TSR_OK;
}

/* Layers run one after the other, between upload and readback. */
static tsr_status count_bounds(bench *b, const tsr_session *session) {
    TRY(count_transfers(b, session));
    double bound = 0;
    for (int i = 0; i < b->report.node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        b->bytes += node.bytes;
        b->draws += node.draws;
        bound += bench_bound(&b->peaks, node.macs, node.bytes).ms;
    }
    b->bound_ms = -1;
    if (b->peaks.gflops > 0)
        b->bound_ms = bound + 1e-6 * (double)b->upload_bytes / b->peaks.upload_gbs +
                      1e-6 * (double)b->readback_bytes / b->peaks.readback_gbs;
    return TSR_OK;
}

/* ---- the whole benchmark --------------------------------------------------------------------- */

static tsr_status measure_session(bench *b, tsr_session *session) {
    TRY_LIBRARY(tsr_session_report(session, &b->report));
    TRY(count_bounds(b, session));
    return steady_runs(b, session);
}

static tsr_status open_device(bench *b) {
    TRY(job_device(&b->o->job, NULL, &b->device));
    TRY_LIBRARY(tsr_device_get_info(b->device, &b->info));
    progress("measuring the device");
    tsr_status status = tsr_device_measure(b->device, &b->peaks);
    return status == TSR_OK || status == TSR_ERROR_UNSUPPORTED /* on cpu */ ? TSR_OK
                                                                            : fail_library(status);
}

/* What would fail only when all processes have started: batches and runs in flight that the model
 * or the library does not allow. */
static tsr_status check_session(const bench *b) {
    tsr_session *planned;
    const tsr_session_desc desc = {.plan_only = true, .runs_in_flight = b->o->in_flight};
    tsr_status status = job_session(b->j, b->device, &desc, &planned);
    if (status != TSR_OK)
        return b->o->batch && b->j->resized ? fail(status, "--batch %d: %s", b->o->batch, failure())
                                            : status;
    tsr_session_destroy(planned);
    return TSR_OK;
}

static tsr_status measure_sessions(bench *b) {
    tsr_session *session;
    const tsr_session_desc tuned = {.tune_ms = b->info.is_cpu ? 0 : BENCH_TUNE_MS,
                                    .runs_in_flight = b->o->in_flight};
    TRY(job_session(b->j, b->device, &tuned, &session));
    tsr_status status = measure_session(b, session);
    if (status == TSR_OK && b->o->in_flight > 1)
        status = bench_flight(b, session);
    if (status == TSR_OK && b->o->train)
        status = bench_train(b, session, tuned.tune_ms);
    tsr_session_destroy(session);
    return status;
}

tsr_status bench_measure(bench *b) {
    TRY(open_device(b));
    if (b->o->batch || b->o->in_flight > 1)
        TRY(check_session(b));
    if (b->o->batch)
        TRY(bench_repeat_inputs(b->j));
    TRY(bench_starts(b));
    TRY(measure_sessions(b));
    if (b->o->against)
        TRY(bench_against(b));
    return bench_wants_layers(b->o) ? bench_time_layers(b) : TSR_OK;
}

void bench_free(bench *b) {
    for (int i = 0; b->outputs && i < b->output_count; i++)
        free(b->outputs[i]);
    free(b->outputs);
    free(b->samples.ms);
    free(b->layers);
    free(b->operators);
    cJSON_Delete(b->baseline.layers);
    tsr_session_destroy(b->timed);
    tsr_device_destroy(b->device);
}
