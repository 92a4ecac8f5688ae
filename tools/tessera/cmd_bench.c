#include "job.h"
#include "output.h"
#include "text.h"
#include "tool.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

typedef struct bench_options {
    job_options job;
    int runs, warmup;
    bool layers;
    char *json;
} bench_options;

typedef struct bench_result {
    label device;
    double cold_ms, warm_ms, median_ms, min_ms, max_ms;
    double gpu_ms; /* of a run with timers; negative: not measured */
    double gflops, peak_gflops;
    tsr_report report; /* of the cold session */
    label backend;
    cJSON *layers; /* array, NULL without --layers */
} bench_result;

/* Upload, run and readback of every output. */
static tsr_status run_once(const job *j, tsr_session *session, float **outputs) {
    TRY(job_feed(j, session));
    TRY_LIBRARY(tsr_session_run(session));
    int count = tsr_session_output_count(session);
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_session_output(session, i, &info));
        size_t elements = (size_t)tsr_shape_count(&info.shape);
        if (!outputs[i])
            outputs[i] = calloc(elements ? elements : 1, sizeof **outputs);
        if (!outputs[i])
            return fail(TSR_OUT_OF_MEMORY, "output '%s': not enough memory", info.name);
        TRY_LIBRARY(tsr_session_get_output(session, info.name, outputs[i], elements));
    }
    return TSR_OK;
}

static tsr_status first_run(const job *j, tsr_device *device, float **outputs,
                            tsr_session **session, double *ms) {
    double start = now_ms();
    TRY(job_session(j, device, &(tsr_session_desc){0}, session));
    tsr_status status = run_once(j, *session, outputs);
    *ms = now_ms() - start;
    if (status != TSR_OK)
        tsr_session_destroy(*session);
    return status;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    int middle = count / 2;
    return count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

static tsr_status steady_runs(const job *j, const bench_options *o, tsr_session *session,
                              float **outputs, bench_result *result) {
    for (int i = 0; i < o->warmup; i++)
        TRY(run_once(j, session, outputs));
    double *ms = calloc((size_t)o->runs, sizeof *ms);
    if (!ms)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory for %d runs", o->runs);
    tsr_status status = TSR_OK;
    for (int i = 0; status == TSR_OK && i < o->runs; i++) {
        progress("run %d of %d", i + 1, o->runs);
        double start = now_ms();
        status = run_once(j, session, outputs);
        ms[i] = now_ms() - start;
    }
    progress_clear();
    result->median_ms = median(ms, o->runs);
    result->min_ms = ms[0];
    result->max_ms = ms[o->runs - 1];
    free(ms);
    return status;
}

/* ---- layers ------------------------------------------------------------------------------------
 */

/* What run number `run` took. Row i of ms, o->runs wide, is node i's, the last the whole run's. */
static tsr_status record_times(const bench_options *o, const tsr_session *session, int run,
                               double *ms) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        ms[(size_t)i * (size_t)o->runs + (size_t)run] = node.ms;
    }
    ms[(size_t)report.node_count * (size_t)o->runs + (size_t)run] = report.gpu_ms;
    return TSR_OK;
}

/* medians: by node, the whole run's last. */
static tsr_status time_nodes(const job *j, const bench_options *o, tsr_session *session,
                             float **outputs, int count, double *medians) {
    size_t runs = (size_t)o->runs;
    double *ms = calloc((size_t)count + 1, runs * sizeof *ms);
    if (!ms)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory for the layers of %d runs", o->runs);
    tsr_status status = TSR_OK;
    for (int run = -1 - o->warmup; status == TSR_OK && run < o->runs; run++) {
        progress("run %d of %d with timers", run + o->warmup + 2, o->runs + o->warmup + 1);
        status = run_once(j, session, outputs);
        if (status == TSR_OK && run >= 0)
            status = record_times(o, session, run, ms);
    }
    progress_clear();
    for (int i = 0; i <= count; i++)
        medians[i] = median(ms + (size_t)i * runs, o->runs);
    free(ms);
    return status;
}

/* Milliseconds to the microsecond; null where not measured. */
static void add_ms(cJSON *object, const char *key, double ms) {
    if (ms >= 0)
        cJSON_AddNumberToObject(object, key, floor(ms * 1e3 + 0.5) / 1e3);
    else
        cJSON_AddNullToObject(object, key);
}

static cJSON *layer_json(const tsr_node_report *node, double ms) {
    cJSON *layer = cJSON_CreateObject();
    cJSON_AddStringToObject(layer, "name", node->name);
    cJSON_AddStringToObject(layer, "op", node->op);
    cJSON_AddStringToObject(layer, "output", node->output);
    cJSON_AddStringToObject(layer, "backend", node->backend);
    cJSON_AddStringToObject(layer, "kernel", node->kernel);
    cJSON *shape = cJSON_AddArrayToObject(layer, "shape");
    for (int i = 0; i < node->shape.rank; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)node->shape.dim[i]));
    cJSON_AddNumberToObject(layer, "macs", (double)node->macs);
    cJSON_AddNumberToObject(layer, "passes", node->passes);
    add_ms(layer, "ms", ms);
    return layer;
}

static tsr_status report_layers(tsr_session *session, int count, const double *ms,
                                bench_result *result) {
    result->layers = cJSON_CreateArray();
    TRY(print_nodes(session, ms));
    for (int i = 0; i < count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        cJSON_AddItemToArray(result->layers, layer_json(&node, ms[i]));
    }
    return TSR_OK;
}

static tsr_status time_layers(const job *j, const bench_options *o, tsr_session *session,
                              float **outputs, bench_result *result) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    double *ms = calloc((size_t)report.node_count + 1, sizeof *ms);
    if (!ms)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory for the layers");
    tsr_status status = time_nodes(j, o, session, outputs, report.node_count, ms);
    if (status == TSR_OK) {
        result->gpu_ms = ms[report.node_count];
        if (result->gpu_ms >= 0)
            printf("GPU     %.3f ms median of %d runs on the GPU's clock, with timers\n",
                   result->gpu_ms, o->runs);
        status = report_layers(session, report.node_count, ms, result);
    }
    free(ms);
    return status;
}

/* In a session of its own: timers between passes would disturb the steady times. */
static tsr_status bench_layers(const job *j, const bench_options *o, tsr_device *device,
                               float **outputs, bench_result *result) {
    tsr_session *session;
    TRY(job_session(j, device, &(tsr_session_desc){.time_passes = true}, &session));
    tsr_status status = time_layers(j, o, session, outputs, result);
    tsr_session_destroy(session);
    return status;
}

/* ---- report ------------------------------------------------------------------------------------
 */

static void print_result(const job *j, const bench_options *o, const bench_result *r) {
    const tsr_report *report = &r->report;
    printf("model   %s, %sMAC\n", j->path, count_label((double)report->macs).text);
    printf("device  %s\n", r->device.text);
    printf("cold    %.1f ms: session and first run; %d programs compiled in %.1f ms\n", r->cold_ms,
           report->program_count, report->compile_ms);
    printf("warm    %.1f ms: the same once more in this process\n", r->warm_ms);
    printf("steady  %.2f ms median of %d, %.2f to %.2f; upload and readback included\n",
           r->median_ms, o->runs, r->min_ms, r->max_ms);
    printf("speed   %.2f GFLOP/s", r->gflops);
    if (r->peak_gflops > 0)
        printf(", %.1f %% of the %.1f that the device reaches with multiply-adds alone",
               100 * r->gflops / r->peak_gflops, r->peak_gflops);
    printf("\n");
    printf("memory  tensors %s (lower bound %s), weights %s, %d passes\n",
           bytes_label(report->tensor_bytes).text, bytes_label(report->live_bytes_bound).text,
           bytes_label(report->weight_bytes).text, report->pass_count);
}

static cJSON *result_json(const job *j, const bench_options *o, bench_result *r) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "model", j->path);
    cJSON_AddStringToObject(root, "backend", r->backend.text);
    cJSON_AddStringToObject(root, "device", r->device.text);
    cJSON_AddStringToObject(root, "precision", o->job.precision ? "fp16" : "fp32");
    cJSON_AddNumberToObject(root, "runs", o->runs);
    add_ms(root, "cold_ms", r->cold_ms);
    add_ms(root, "warm_ms", r->warm_ms);
    add_ms(root, "median_ms", r->median_ms);
    add_ms(root, "min_ms", r->min_ms);
    add_ms(root, "max_ms", r->max_ms);
    add_ms(root, "gpu_ms", r->gpu_ms);
    cJSON_AddNumberToObject(root, "macs", (double)r->report.macs);
    cJSON_AddNumberToObject(root, "gflops", r->gflops);
    if (r->peak_gflops > 0) {
        cJSON_AddNumberToObject(root, "peak_gflops", r->peak_gflops);
        cJSON_AddNumberToObject(root, "share_of_peak", r->gflops / r->peak_gflops);
    } else {
        cJSON_AddNullToObject(root, "share_of_peak");
    }
    cJSON_AddNumberToObject(root, "peak_tensor_bytes", (double)r->report.tensor_bytes);
    cJSON_AddNumberToObject(root, "live_lower_bound_bytes", (double)r->report.live_bytes_bound);
    cJSON_AddNumberToObject(root, "weight_bytes", (double)r->report.weight_bytes);
    cJSON_AddNumberToObject(root, "passes", r->report.pass_count);
    cJSON_AddNumberToObject(root, "programs", r->report.program_count);
    add_ms(root, "compile_ms", r->report.compile_ms);
    cJSON_AddItemToObject(root, "layers", r->layers ? r->layers : cJSON_CreateArray());
    r->layers = NULL;
    return root;
}

static tsr_status write_json(const job *j, const bench_options *o, bench_result *result) {
    cJSON *root = result_json(j, o, result);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return fail(TSR_OUT_OF_MEMORY, "%s: not enough memory", o->json);
    output_file out;
    tsr_status status = output_begin(o->json, &out);
    if (status == TSR_OK) {
        fprintf(out.file, "%s\n", text);
        status = output_end(&out, TSR_OK);
    }
    cJSON_free(text);
    return status;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static tsr_status describe_device(const tsr_device *device, bench_result *result) {
    tsr_device_info info;
    TRY_LIBRARY(tsr_device_get_info(device, &info));
    snprintf(result->backend.text, sizeof result->backend.text, "%s", info.backend);
    snprintf(result->device.text, sizeof result->device.text, "%s: %s", info.backend, info.name);
    return TSR_OK;
}

static tsr_status bench_on(const job *j, const bench_options *o, tsr_device *device,
                           float **outputs, bench_result *result) {
    tsr_session *session;
    TRY(describe_device(device, result));
    progress("first run");
    TRY(first_run(j, device, outputs, &session, &result->cold_ms));
    tsr_status status = tsr_session_report(session, &result->report);
    tsr_session_destroy(session);
    if (status != TSR_OK)
        return fail_library(status);
    TRY(first_run(j, device, outputs, &session, &result->warm_ms));
    status = steady_runs(j, o, session, outputs, result);
    tsr_session_destroy(session);
    TRY(status);
    if (tsr_device_measure_peak(device, &result->peak_gflops) != TSR_OK)
        result->peak_gflops = 0; /* the cpu backend has none */
    result->gflops = 2e-6 * (double)result->report.macs / result->median_ms;
    print_result(j, o, result);
    if (o->layers)
        TRY(bench_layers(j, o, device, outputs, result));
    return o->json ? write_json(j, o, result) : TSR_OK;
}

static tsr_status bench(const job *j, const bench_options *o) {
    if (o->json)
        TRY(output_check(o->json));
    tsr_device *device;
    TRY(job_device(&o->job, NULL, &device));
    bench_result result = {.gpu_ms = -1};
    int count = tsr_model_output_count(j->model);
    float **outputs = calloc((size_t)count + 1, sizeof *outputs);
    tsr_status status = outputs ? bench_on(j, o, device, outputs, &result)
                                : fail(TSR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; outputs && i < count; i++)
        free(outputs[i]);
    free(outputs);
    cJSON_Delete(result.layers);
    tsr_device_destroy(device);
    return status;
}

int cmd_bench(int argc, char **argv) {
    bench_options o = {.runs = 10, .warmup = 2};
    const option own[] = {
        {"runs", 'n', "N", "steady runs to time (10)", OPTION_INT, &o.runs, 1, NULL},
        {"warmup", 0, "N", "runs before those, besides the first (2)", OPTION_INT, &o.warmup, 0,
         NULL},
        {"layers", 'l', NULL, "a time for each node, and the run's on the GPU's clock", OPTION_FLAG,
         &o.layers, 0, NULL},
        {"json", 0, "FILE", "write the figures there too", OPTION_TEXT, &o.json, 0, NULL},
        {"seed", 0, "N", "of the inputs for which no file is given (0)", OPTION_INT, &o.job.seed, 0,
         NULL},
    };
    option_set set = {.usage = "tessera bench MODEL [-i [NAME=]FILE]... [--backend NAME] "
                               "[--runs N] [--layers] [--json FILE]",
                      .notes = "Drivers keep compiled programs on disk: give a cold measurement an "
                               "empty MESA_SHADER_CACHE_DIR.\n",
                      .min_arguments = 1,
                      .max_arguments = 1};
    OPTIONS_ADD(&set, own);
    job_add_backend_option(&set, &o.job);
    job_add_session_options(&set, &o.job);
    job_add_input_options(&set, &o.job);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    job j;
    tsr_status status = job_open(&j, &o.job, argv[1], JOB_MISSING_RANDOM);
    if (status != TSR_OK)
        return command_exit(status);
    status = bench(&j, &o);
    job_close(&j);
    return command_exit(status);
}
