#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "json.h"
#include "output.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static tsr_status write_files(const bench *b) {
    if (!json_is_stdout(b->o->json))
        bench_print(b);
    if (b->o->json)
        TRY(bench_write_json(b, b->o->json));
    if (b->o->trace)
        TRY(bench_write_trace(b, b->o->trace));
    return b->o->svg ? bench_write_svg(b, b->o->svg) : TSR_OK;
}

static tsr_status check_files(const bench_options *o, const char *model) {
    const char *const paths[] = {o->json, o->trace, o->svg};
    for (int i = 0; i < 3; i++) {
        if (!paths[i])
            continue;
        if (i > 0 || !json_is_stdout(o->json))
            TRY(output_check(paths[i]));
        TRY(description_check_output(model, o->job.description, paths[i]));
        for (int k = 0; k < i; k++)
            if (paths[k] && output_is_same_place(paths[k], paths[i]))
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: named for two files", paths[i]);
    }
    return TSR_OK;
}

static tsr_status bench_model(job *j, const bench_options *o) {
    bench b = {.j = j, .o = o, .gpu_ms = -1, .output_count = tsr_model_output_count(j->model)};
    b.outputs = calloc((size_t)b.output_count + 1, sizeof *b.outputs);
    tsr_status status = TSR_OK;
    if (!b.outputs)
        status = fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    else if (o->serve)
        status = bench_serve(&b);
    else if ((status = bench_measure(&b)) == TSR_OK)
        status = write_files(&b);
    bench_free(&b);
    return status;
}

static tsr_status check_runs(bench_options *o) {
    enum { RUNS = 10 };
    if (o->runs && o->seconds >= 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--runs and --seconds: only one of them");
    if (o->seconds == 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--seconds expects more than 0");
    if (!o->runs && o->seconds < 0)
        o->runs = RUNS;
    return TSR_OK;
}

static tsr_status bench_file(bench_options *o, const char *path) {
    job j;
    TRY(check_runs(o));
    if (o->serve) {
        o->job.backend = o->serve;
        if (!serve_awaits_begin())
            return TSR_OK;
    } else {
        TRY(check_files(o, path));
    }
    o->job.batch = o->batch ? 1 : 0; /* inputs of one element are repeated */
    TRY(job_open(&j, &o->job, path, JOB_MISSING_RANDOM));
    tsr_status status = o->batch ? bench_set_batch(&j, o->batch) : TSR_OK;
    if (status == TSR_OK)
        status = bench_model(&j, o);
    job_close(&j);
    return status;
}

static void free_arguments(bench_options *o) {
    for (int i = 0; o->argv && i < o->argc; i++)
        free(o->argv[i]);
    free(o->argv);
}

/* Parsing reorders and splits the arguments in place: keep a copy. */
static tsr_status copy_arguments(bench_options *o, int argc, char **argv) {
    o->argc = argc;
    o->argv = calloc((size_t)argc + 1, sizeof *o->argv);
    bool complete = o->argv != NULL;
    for (int i = 0; complete && i < argc; i++)
        complete = (o->argv[i] = strdup(argv[i])) != NULL;
    return complete ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
}

static void add_options(option_set *set, bench_options *o) {
    const option items[] = {
        {"runs", 'n', "N", "number of timed runs (10)", OPTION_INT, &o->runs, 1, NULL},
        {"seconds", 0, "S",
         "instead: the runs that begin within S seconds, of each kind that is asked for",
         OPTION_NUMBER, &o->seconds, 0, NULL},
        {"batch", 0, "N",
         "run N pictures or samples at a time: inputs are repeated along their first axis",
         OPTION_INT, &o->batch, 1, NULL},
        {"in-flight", 0, "K",
         "also time runs of which up to K are submitted before the first one's results are read",
         OPTION_INT, &o->in_flight, 1, NULL},
        {"warmup", 0, "N", "number of warm-up runs after the first run (2)", OPTION_INT, &o->warmup,
         0, NULL},
        {"layers", 'l', NULL,
         "print tables of layers, time, roofline bound and its limit, and of operators",
         OPTION_FLAG, &o->layers, 0, NULL},
        {"train", 0, NULL, "time training steps (L1, Adam), too, in turns with runs", OPTION_FLAG,
         &o->train, 0, NULL},
        {"json", 0, "FILE",
         "write the results as JSON, too; - for nothing but that on standard output", OPTION_TEXT,
         &o->json, 0, NULL},
        {"trace", 0, "FILE", "write a trace of one run for chrome://tracing or Perfetto",
         OPTION_TEXT, &o->trace, 0, NULL},
        {"svg", 0, "FILE", "write a bar chart of layer times and bounds, with --against of both",
         OPTION_TEXT, &o->svg, 0, NULL},
        {"against", 0, "WHAT",
         "compare with a backend or a build (PATH/TO/tessera), alternating runs", OPTION_TEXT,
         &o->against, 0, NULL},
        {"serve", 0, "BACKEND", "internal: the server process of --against", OPTION_TEXT, &o->serve,
         0, NULL},
    };
    OPTIONS_ADD(set, items);
    job_add_seed_option(set, &o->job);
    job_add_backend_option(set, &o->job);
    job_add_session_options(set, &o->job);
    job_add_passes_option(set, &o->job);
    job_add_input_options(set, &o->job);
}

int cmd_bench(int argc, char **argv) {
    bench_options o = {.job.reread = true, .warmup = 2, .seconds = -1, .in_flight = 1};
    option_set set = {
        .usage = "tessera bench MODEL [-i [NAME=]FILE]... [--backend NAME] [--runs N] [--layers]\n"
                 "       [--seconds S] [--batch N] [--in-flight K] [--train] [--json FILE] "
                 "[--trace FILE]\n"
                 "       [--svg FILE] [--against BACKEND|PATH]",
        .notes =
            "Peaks are measured on this device: multiply-adds, fetches, copies and transfers, each "
            "by itself.\nA bound is a layer's minimum time at these peaks (roofline), limited by "
            "its operations (ops)\nor by moving its inputs, weights and outputs once (mem).\n"
            "A cold start has empty disk caches, Tessera's and the driver's; a warm start has "
            "filled ones.\n"
            "p90: 90 of 100 runs took at most that; rate: runs, or the pictures in them, a second; "
            "flight: the\nsame with --in-flight.\n",
        .min_arguments = 1,
        .max_arguments = 1};
    add_options(&set, &o);
    int arguments, code;
    tsr_status status = copy_arguments(&o, argc, argv);
    if (status != TSR_OK)
        code = command_exit(status);
    else if (options_parse(&set, argc, argv, &arguments, &code))
        code = command_exit(bench_file(&o, argv[1]));
    free_arguments(&o);
    return code;
}
