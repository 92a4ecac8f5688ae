#include "bench.h"
#include "json.h"
#include "tool.h"

#include <math.h>
#include <time.h>

static double rounded_ms(double ms) { /* to the nanosecond */
    return floor(ms * 1e6 + 0.5) / 1e6;
}

/* Milliseconds; null where not measured. */
static void add_ms(cJSON *object, const char *key, double ms) {
    if (ms >= 0)
        cJSON_AddNumberToObject(object, key, rounded_ms(ms));
    else
        cJSON_AddNullToObject(object, key);
}

/* "median_ms", "q1_ms", ... */
static void add_summary(cJSON *object, const summary *s) {
    add_ms(object, "median_ms", s->median);
    add_ms(object, "q1_ms", s->q1);
    add_ms(object, "q3_ms", s->q3);
    add_ms(object, "min_ms", s->min);
    add_ms(object, "p90_ms", s->p90);
    add_ms(object, "p99_ms", s->p99);
    add_ms(object, "max_ms", s->max);
}

/* The latency with it, since a rate alone says little. */
static void add_throughput(cJSON *object, const bench *b, const throughput *t) {
    cJSON_AddNumberToObject(object, "runs", t->runs);
    cJSON_AddNumberToObject(object, "seconds", t->seconds);
    cJSON_AddNumberToObject(object, "per_second", bench_batch(b->o) * bench_rate(t));
    add_summary(object, &t->latency);
}

static void add_flight(cJSON *root, const bench *b) {
    cJSON *flight = cJSON_AddObjectToObject(root, "in_flight");
    cJSON_AddNumberToObject(flight, "count", b->o->in_flight);
    add_throughput(flight, b, &b->flight);
}

static void add_peaks(cJSON *root, const tsr_device_peaks *p) {
    if (p->gflops <= 0) {
        cJSON_AddNullToObject(root, "peaks");
        return;
    }
    cJSON *peaks = cJSON_AddObjectToObject(root, "peaks");
    cJSON_AddNumberToObject(peaks, "gflops", p->gflops);
    cJSON_AddNumberToObject(peaks, "gfetches", p->gfetches);
    cJSON_AddNumberToObject(peaks, "copy_gbs", p->copy_gbs);
    cJSON_AddNumberToObject(peaks, "upload_gbs", p->upload_gbs);
    cJSON_AddNumberToObject(peaks, "readback_gbs", p->readback_gbs);
}

static void add_rates(cJSON *root, const bench *b) {
    double gflops = bench_gflops(b->report.macs, b->steady.latency.median);
    cJSON_AddNumberToObject(root, "macs", (double)b->report.macs);
    cJSON_AddNumberToObject(root, "gflops", gflops);
    if (b->peaks.gflops > 0)
        cJSON_AddNumberToObject(root, "share_of_peak", gflops / b->peaks.gflops);
    else
        cJSON_AddNullToObject(root, "share_of_peak");
    add_ms(root, "bound_ms", b->bound_ms);
    cJSON_AddNumberToObject(root, "draws", (double)b->draws);
    cJSON_AddNumberToObject(root, "bytes", (double)b->bytes);
    cJSON_AddNumberToObject(root, "upload_bytes", (double)b->upload_bytes);
    cJSON_AddNumberToObject(root, "readback_bytes", (double)b->readback_bytes);
}

static void add_report(cJSON *root, const tsr_report *report) {
    cJSON_AddNumberToObject(root, "peak_tensor_bytes", (double)report->tensor_bytes);
    cJSON_AddNumberToObject(root, "live_lower_bound_bytes", (double)report->live_bytes_bound);
    cJSON_AddNumberToObject(root, "weight_bytes", (double)report->weight_bytes);
    cJSON_AddNumberToObject(root, "passes", report->pass_count);
    cJSON_AddNumberToObject(root, "tuned_layers", report->tuned_layers);
    add_ms(root, "tune_ms", report->tune_ms);
}

static void add_starts(cJSON *root, const bench *b) {
    add_ms(root, "cold_ms", b->cold.ms);
    cJSON_AddNumberToObject(root, "programs", b->cold.programs);
    add_ms(root, "compile_ms", b->cold.compile_ms);
    add_ms(root, "warm_ms", b->warm.ms);
    cJSON_AddNumberToObject(root, "warm_cached_programs", b->warm.cached);
    add_ms(root, "warm_compile_ms", b->warm.compile_ms);
}

static void add_baseline(cJSON *root, const bench_baseline *r) {
    cJSON *baseline = cJSON_AddObjectToObject(root, "against");
    json_add_text(baseline, "device", r->name.text);
    cJSON_AddNumberToObject(baseline, "pairs", r->pairs);
    add_summary(cJSON_AddObjectToObject(baseline, "here"), &r->ours);
    add_summary(cJSON_AddObjectToObject(baseline, "there"), &r->theirs);
    cJSON_AddNumberToObject(baseline, "ratio", r->ratio.median);
    cJSON_AddNumberToObject(baseline, "ratio_q1", r->ratio.q1);
    cJSON_AddNumberToObject(baseline, "ratio_q3", r->ratio.q3);
}

static void add_training(cJSON *root, const bench_training *t) {
    cJSON *training = cJSON_AddObjectToObject(root, "train");
    add_summary(cJSON_AddObjectToObject(training, "step"), &t->step);
    add_summary(cJSON_AddObjectToObject(training, "run"), &t->run);
    cJSON_AddNumberToObject(training, "ratio", t->ratio.median);
    cJSON_AddNumberToObject(training, "ratio_q1", t->ratio.q1);
    cJSON_AddNumberToObject(training, "ratio_q3", t->ratio.q3);
    add_ms(training, "first_ms", t->first_ms);
    cJSON_AddNumberToObject(training, "nodes", t->report.node_count);
    cJSON_AddNumberToObject(training, "passes", t->report.pass_count);
    cJSON_AddNumberToObject(training, "tensor_bytes", (double)t->report.tensor_bytes);
}

static cJSON *layer_json(const bench_layer *l) {
    const tsr_node_report *node = &l->node;
    cJSON *layer = cJSON_CreateObject();
    json_add_text(layer, "name", node->name);
    json_add_text(layer, "op", node->op);
    json_add_text(layer, "output", node->output);
    json_add_text(layer, "backend", node->backend);
    json_add_text(layer, "kernel", node->kernel);
    json_add_text(layer, "winograd_tile", node->winograd_tile);
    cJSON *shape = cJSON_AddArrayToObject(layer, "shape");
    for (int i = 0; i < node->shape.rank; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)node->shape.dim[i]));
    cJSON_AddNumberToObject(layer, "macs", (double)node->macs);
    cJSON_AddNumberToObject(layer, "bytes", (double)node->bytes);
    cJSON_AddNumberToObject(layer, "passes", node->passes);
    cJSON_AddNumberToObject(layer, "draws", (double)node->draws);
    add_ms(layer, "ms", l->ms);
    add_ms(layer, "there_ms", l->there_ms);
    add_ms(layer, "bound_ms", l->bound.ms);
    json_add_text(layer, "bound_by", l->bound.by_bytes ? "bytes" : "operations");
    return layer;
}

static cJSON *sum_json(const bench *b, const bench_sum *sum) {
    cJSON *object = cJSON_CreateObject();
    if (sum->op.text[0])
        json_add_text(object, "op", sum->op.text);
    cJSON_AddNumberToObject(object, "layers", sum->layers);
    cJSON_AddNumberToObject(object, "macs", (double)sum->macs);
    cJSON_AddNumberToObject(object, "bytes", (double)sum->bytes);
    cJSON_AddNumberToObject(object, "draws", (double)sum->draws);
    add_ms(object, "ms", sum->ms);
    add_ms(object, "there_ms", sum->there_ms);
    add_ms(object, "bound_ms", sum->bound_ms);
    cJSON_AddNumberToObject(object, "share", bench_share(b, sum));
    cJSON_AddNumberToObject(object, "gflops", bench_gflops(sum->macs, sum->ms));
    return object;
}

static void add_layers(cJSON *root, const bench *b) {
    cJSON *layers = cJSON_AddArrayToObject(root, "layers");
    for (int i = 0; i < b->layer_count; i++)
        cJSON_AddItemToArray(layers, layer_json(&b->layers[i]));
    cJSON_AddItemToObject(root, "all_layers",
                          b->layers ? sum_json(b, &b->all) : cJSON_CreateNull());
    cJSON *operators = cJSON_AddArrayToObject(root, "operators");
    for (int i = 0; i < b->operator_count; i++)
        cJSON_AddItemToArray(operators, sum_json(b, &b->operators[i]));
}

/* Of what, by what and when this was measured. */
static void add_origin(cJSON *root, const bench *b) {
    char date[32] = "";
    time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    if (utc)
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", utc);
    json_add_text(root, "model", b->j->path);
    json_add_text(root, "version", TSR_VERSION);
    json_add_text(root, "date", date);
    json_add_text(root, "backend", b->info.backend);
    json_add_text(root, "device", b->info.name);
    json_add_text(root, "device_version", b->info.version ? b->info.version : "");
}

static void add_samples(cJSON *root, const bench *b) {
    cJSON *samples = cJSON_AddArrayToObject(root, "samples_ms");
    for (int i = 0; i < b->samples.count; i++)
        cJSON_AddItemToArray(samples, cJSON_CreateNumber(rounded_ms(b->samples.ms[i])));
}

static cJSON *bench_json(const bench *b) {
    cJSON *root = cJSON_CreateObject();
    add_origin(root, b);
    json_add_text(root, "precision",
                  b->j->options->precision == TSR_PRECISION_AUTO ? "auto"
                  : b->report.precision == TSR_PRECISION_FP16    ? "fp16"
                                                                 : "fp32");
    cJSON_AddNumberToObject(root, "batch", bench_batch(b->o));
    add_peaks(root, &b->peaks);
    add_starts(root, b);
    add_throughput(root, b, &b->steady);
    add_samples(root, b);
    add_ms(root, "gpu_ms", b->gpu_ms);
    add_rates(root, b);
    add_report(root, &b->report);
    if (b->flight.runs)
        add_flight(root, b);
    if (b->o->against)
        add_baseline(root, &b->baseline);
    if (b->o->train)
        add_training(root, &b->training);
    add_layers(root, b);
    return root;
}

tsr_status bench_write_json(const bench *b, const char *path) {
    return json_write(bench_json(b), path);
}

/* ---- trace ----------------------------------------------------------------------------------- */

enum { HOST = 1, DEVICE = 2 }; /* threads of the trace */

static void add_thread(cJSON *events, int thread, const char *name) {
    cJSON *event = cJSON_CreateObject();
    cJSON_AddItemToArray(events, event);
    json_add_text(event, "name", "thread_name");
    json_add_text(event, "ph", "M");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", thread);
    json_add_text(cJSON_AddObjectToObject(event, "args"), "name", name);
}

/* Adds a span that starts at *ms and advances *ms to its end; returns its "args" object. */
static cJSON *add_span(cJSON *events, int thread, const char *name, double *ms, double duration) {
    cJSON *event = cJSON_CreateObject();
    cJSON_AddItemToArray(events, event);
    json_add_text(event, "name", name);
    json_add_text(event, "ph", "X");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", thread);
    cJSON_AddNumberToObject(event, "ts", *ms * 1e3);
    cJSON_AddNumberToObject(event, "dur", duration * 1e3);
    *ms += duration;
    return cJSON_AddObjectToObject(event, "args");
}

static void add_layer_span(cJSON *events, const tsr_node_report *node, double *ms) {
    if (node->ms < 0)
        return;
    cJSON *args = add_span(events, DEVICE, node->name, ms, node->ms);
    json_add_text(args, "op", node->op);
    json_add_text(args, "shape", shape_label(&node->shape).text);
    json_add_text(args, "kernel", node->kernel);
    cJSON_AddNumberToObject(args, "macs", (double)node->macs);
    cJSON_AddNumberToObject(args, "bytes", (double)node->bytes);
    cJSON_AddNumberToObject(args, "draws", (double)node->draws);
}

/* Layers follow each other without gaps: GPU timers give durations, not start times. */
tsr_status bench_write_trace(const bench *b, const char *path) {
    cJSON *root = cJSON_CreateObject();
    cJSON *events = cJSON_AddArrayToObject(root, "traceEvents");
    double ms = 0;
    add_thread(events, HOST, "host");
    add_thread(events, DEVICE, b->info.name);
    add_span(events, HOST, "upload", &ms, b->latest.upload_ms);
    double began = ms;
    add_span(events, HOST, "run", &ms, b->latest.run_ms);
    add_span(events, HOST, "readback", &ms, b->latest.readback_ms);
    for (int i = 0; i < b->layer_count; i++)
        add_layer_span(events, &b->layers[i].node, &began);
    json_add_text(root, "displayTimeUnit", "ms");
    return json_write(root, path);
}
