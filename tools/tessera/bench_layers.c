/* Times of the layers, from a session with timers, their sum and sums by operator. */
#include "bench.h"
#include "json.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

bool bench_wants_layers(const bench_options *o) {
    return o->layers || o->trace || o->svg;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Adds the times of the latest run: of each layer, then that of the whole run. */
static tsr_status record_times(bench *b, samples *times) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(b->timed, &report));
    for (int i = 0; i < b->layer_count; i++) {
        tsr_node_report *node = &b->layers[i].node;
        TRY_LIBRARY(tsr_session_node_report(b->timed, i, node));
        TRY(samples_add(&times[i], node->ms));
    }
    b->layer_runs++;
    return samples_add(&times[b->layer_count], report.gpu_ms);
}

/* The same input for all runs: while a GPU waits for transfers, its clock falls. */
static tsr_status timed_runs(bench *b, samples *times) {
    TRY(job_set_inputs(b->j, b->timed));
    TRY(bench_warm_up(b, b->timed, true));
    double began = now_ms();
    while (bench_goes_on(b->o, b->layer_runs, began)) {
        bench_progress(b->o, b->layer_runs, "run with timers");
        TRY_LIBRARY(tsr_session_run(b->timed));
        TRY(record_times(b, times));
    }
    progress_clear();
    return TSR_OK;
}

static void take_medians(bench *b, samples *times) {
    for (int i = 0; i < b->layer_count; i++) {
        bench_layer *layer = &b->layers[i];
        layer->ms = samples_take(&times[i]).median;
        layer->there_ms = -1;
        layer->bound = bench_bound(&b->peaks, layer->node.macs, layer->node.bytes);
    }
    b->gpu_ms = samples_take(&times[b->layer_count]).median;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Negative ones are not known. */
static void add_ms(double *sum, double ms) {
    if (ms >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + ms;
}

static void add_layer(bench_sum *sum, const bench_layer *layer) {
    sum->layers++;
    sum->macs += layer->node.macs;
    sum->draws += layer->node.draws;
    sum->bytes += layer->node.bytes;
    add_ms(&sum->ms, layer->ms);
    add_ms(&sum->there_ms, layer->there_ms);
    add_ms(&sum->bound_ms, layer->bound.ms);
}

static bench_sum empty_sum(const char *op, size_t length) {
    bench_sum sum = {.ms = -1, .there_ms = -1, .bound_ms = -1};
    snprintf(sum.op.text, sizeof sum.op.text, "%.*s", (int)length, op);
    return sum;
}

/* "Conv" for "Conv(LeakyRelu)+Relu". */
static bench_sum *find_operator(bench *b, const char *op) {
    size_t length = strcspn(op, "(+");
    for (int i = 0; i < b->operator_count; i++)
        if (strlen(b->operators[i].op.text) == length &&
            memcmp(b->operators[i].op.text, op, length) == 0)
            return &b->operators[i];
    b->operators[b->operator_count] = empty_sum(op, length);
    return &b->operators[b->operator_count++];
}

static int compare_times(const void *a, const void *b) {
    const bench_sum *x = a, *y = b;
    return x->ms != y->ms ? (x->ms < y->ms) - (x->ms > y->ms) : strcmp(x->op.text, y->op.text);
}

static void add_layers(bench *b) {
    b->all = empty_sum("", 0);
    for (int i = 0; i < b->layer_count; i++) {
        add_layer(&b->all, &b->layers[i]);
        add_layer(find_operator(b, b->layers[i].node.op), &b->layers[i]);
    }
    qsort(b->operators, (size_t)b->operator_count, sizeof *b->operators, compare_times);
}

/* ---- the layers of --against ----------------------------------------------------------------- */

static bool named(const cJSON *layer, const char *key, const char *name) {
    char shown[4096]; /* as json_add_text() has it */
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(layer, key));
    return text && strcmp(text, tsr_escape(name, shown, sizeof shown)) == 0;
}

static bench_layer *find_layer(const bench *b, const cJSON *theirs) {
    for (int i = 0; i < b->layer_count; i++)
        if (named(theirs, "output", b->layers[i].node.output))
            return &b->layers[i];
    for (int i = 0; i < b->layer_count; i++)
        if (named(theirs, "name", b->layers[i].node.name))
            return &b->layers[i];
    return NULL;
}

/* Layers that are fused into another one here count with the next one that is not, or the last. */
static void match_layers(bench *b) {
    const cJSON *theirs;
    double carried = -1;
    cJSON_ArrayForEach(theirs, b->baseline.layers) {
        const cJSON *ms = cJSON_GetObjectItem(theirs, "ms");
        bench_layer *ours = find_layer(b, theirs);
        if (cJSON_IsNumber(ms))
            add_ms(&carried, ms->valuedouble);
        if (ours) {
            add_ms(&ours->there_ms, carried);
            carried = -1;
        }
    }
    if (b->layer_count)
        add_ms(&b->layers[b->layer_count - 1].there_ms, carried);
}

cJSON *bench_layers_json(const bench *b) {
    cJSON *layers = cJSON_CreateArray();
    for (int i = 0; i < b->layer_count; i++) {
        cJSON *layer = cJSON_CreateObject();
        json_add_text(layer, "name", b->layers[i].node.name);
        json_add_text(layer, "output", b->layers[i].node.output);
        cJSON_AddNumberToObject(layer, "ms", b->layers[i].ms);
        cJSON_AddItemToArray(layers, layer);
    }
    return layers;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsr_status allocate(bench *b, samples **times) {
    size_t rows = (size_t)b->report.node_count + 1;
    *times = calloc(rows, sizeof **times);
    b->layers = calloc(rows, sizeof *b->layers);
    b->operators = calloc(rows, sizeof *b->operators);
    b->layer_count = b->report.node_count;
    return *times && b->layers && b->operators
               ? TSR_OK
               : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the layers");
}

/* In a separate session: timers between passes would disturb the steady times. */
tsr_status bench_time_layers(bench *b) {
    samples *times = NULL;
    const tsr_session_desc desc = {.time_passes = true,
                                   .tune_ms = b->info.is_cpu ? 0 : BENCH_TUNE_MS};
    TRY(job_session(b->j, b->device, &desc, &b->timed));
    tsr_status status = allocate(b, &times);
    if (status == TSR_OK)
        status = timed_runs(b, times);
    if (status == TSR_OK) {
        take_medians(b, times);
        match_layers(b);
        add_layers(b);
    }
    for (int i = 0; times && i <= b->layer_count; i++)
        free(times[i].ms);
    free(times);
    return status;
}
