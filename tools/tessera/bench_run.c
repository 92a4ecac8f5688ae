#include "bench.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures --------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted samples. */
static double quantile(const double *samples, int count, double share) {
    double at = share * (count - 1);
    int below = (int)at;
    double next = samples[below + 1 < count ? below + 1 : below];
    return samples[below] + (at - below) * (next - samples[below]);
}

summary summarize(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
    return (summary){.median = quantile(samples, count, 0.5),
                     .q1 = quantile(samples, count, 0.25),
                     .q3 = quantile(samples, count, 0.75),
                     .min = samples[0],
                     .max = samples[count - 1]};
}

roofline bench_bound(const tsr_device_peaks *peaks, int64_t macs, uint64_t bytes) {
    if (peaks->gflops <= 0 || peaks->copy_gbs <= 0)
        return (roofline){.ms = -1};
    double compute = 2e-6 * (double)macs / peaks->gflops;
    double move = 1e-6 * (double)bytes / peaks->copy_gbs;
    return (roofline){.ms = fmax(compute, move), .by_bytes = move > compute};
}

double bench_gflops(int64_t macs, double ms) {
    return ms > 0 ? 2e-6 * (double)macs / ms : 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static tsr_status read_output(bench *b, tsr_session *session, int index) {
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
        TRY(read_output(b, session, i));
    double end = now_ms();
    b->latest = (run_times){fed - start, ran - fed, end - ran};
    *ms = end - start;
    return TSR_OK;
}

/* With transfers, or only the run between them. */
static tsr_status run_once(bench *b, tsr_session *session, double *ms) {
    if (session != b->timed)
        return bench_run(b, session, ms);
    TRY_LIBRARY(tsr_session_run(session));
    return TSR_OK;
}

/* An idle GPU lowers its clock and needs time to raise it again. */
static tsr_status warm_up(bench *b, tsr_session *session) {
    enum { CLOCK_MS = 500 };
    double unused, end = now_ms() + (b->info.is_cpu ? 0 : CLOCK_MS);
    progress("warming up");
    for (int i = 0; i <= b->o->warmup || now_ms() < end; i++)
        TRY(run_once(b, session, &unused));
    return TSR_OK;
}

static tsr_status steady_runs(bench *b, tsr_session *session) {
    size_t runs = (size_t)b->o->runs;
    double *ms = calloc(runs, sizeof *ms);
    b->samples = calloc(runs, sizeof *b->samples);
    if (!ms || !b->samples) {
        free(ms);
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for %d runs", b->o->runs);
    }
    tsr_status status = warm_up(b, session);
    for (int i = 0; status == TSR_OK && i < b->o->runs; i++) {
        progress("run %d of %d", i + 1, b->o->runs);
        status = bench_run(b, session, &ms[i]);
    }
    progress_clear();
    memcpy(b->samples, ms, runs * sizeof *ms);
    b->steady = summarize(ms, b->o->runs);
    free(ms);
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

/* ---- layers ---------------------------------------------------------------------------------- */

/* Stores the times of run number `run`. Row i of ms, with a column per run, is of node i, the last
 * row of the whole run. */
static tsr_status record_times(const bench *b, int run, double *ms) {
    size_t runs = (size_t)b->o->runs;
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(b->timed, &report));
    for (int i = 0; i < b->layer_count; i++) {
        tsr_node_report *node = &b->layers[i].node;
        TRY_LIBRARY(tsr_session_node_report(b->timed, i, node));
        ms[(size_t)i * runs + (size_t)run] = node->ms;
    }
    ms[(size_t)b->layer_count * runs + (size_t)run] = report.gpu_ms;
    return TSR_OK;
}

/* The same input for all runs: while a GPU waits for transfers, its clock falls. */
static tsr_status timed_runs(bench *b, double *ms) {
    TRY(job_set_inputs(b->j, b->timed));
    TRY(warm_up(b, b->timed));
    for (int run = 0; run < b->o->runs; run++) {
        double unused;
        progress("run %d of %d with timers", run + 1, b->o->runs);
        TRY(run_once(b, b->timed, &unused));
        TRY(record_times(b, run, ms));
    }
    progress_clear();
    return TSR_OK;
}

static void keep_medians(bench *b, double *ms) {
    int runs = b->o->runs;
    for (int i = 0; i < b->layer_count; i++) {
        bench_layer *layer = &b->layers[i];
        layer->ms = summarize(ms + (size_t)i * (size_t)runs, runs).median;
        layer->bound = bench_bound(&b->peaks, layer->node.macs, layer->node.bytes);
    }
    b->gpu_ms = summarize(ms + (size_t)b->layer_count * (size_t)runs, runs).median;
}

/* In a separate session: timers between passes would disturb the steady times. */
static tsr_status time_layers(bench *b) {
    TRY(job_session(b->j, b->device, &(tsr_session_desc){.time_passes = true}, &b->timed));
    size_t rows = (size_t)b->report.node_count + 1;
    double *ms = calloc(rows, (size_t)b->o->runs * sizeof *ms);
    b->layers = calloc(rows, sizeof *b->layers);
    b->layer_count = b->report.node_count;
    tsr_status status = ms && b->layers
                            ? timed_runs(b, ms)
                            : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the layers");
    if (status == TSR_OK)
        keep_medians(b, ms);
    free(ms);
    return status;
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

tsr_status bench_measure(bench *b) {
    enum { GPU_TUNE_MS = 1000 }; /* steady runs are to be the fastest; starts are not tuned */
    tsr_session *session;
    TRY(open_device(b));
    TRY(bench_starts(b));
    const tsr_session_desc tuned = {.tune_ms = b->info.is_cpu ? 0 : GPU_TUNE_MS};
    TRY(job_session(b->j, b->device, &tuned, &session));
    tsr_status status = measure_session(b, session);
    if (status == TSR_OK && b->o->train)
        status = bench_train(b, session, tuned.tune_ms);
    tsr_session_destroy(session);
    TRY(status);
    if (b->o->against)
        TRY(bench_against(b));
    return b->o->layers || b->o->trace || b->o->svg ? time_layers(b) : TSR_OK;
}

void bench_free(bench *b) {
    for (int i = 0; b->outputs && i < b->output_count; i++)
        free(b->outputs[i]);
    free(b->outputs);
    free(b->samples);
    free(b->layers);
    tsr_session_destroy(b->timed);
    tsr_device_destroy(b->device);
}
