/* Results of `tessera bench`, and functions that measure and write them. */
#ifndef TESSERA_BENCH_H
#define TESSERA_BENCH_H

#include "job.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct bench_options {
    job_options job;
    int runs, warmup;     /* runs 0: as many as there is time for */
    double seconds;       /* of each part of the benchmark, where runs is 0 */
    int batch, in_flight; /* batch 0: as the model has it; in_flight: at least 1 */
    bool layers, train;
    char *json, *trace, *svg;
    char *against; /* a backend, or the path of another build's tessera */
    char *serve;   /* the backend to run as a server on */
    int argc;      /* the arguments of the command, for server processes: not owned */
    char **argv;
} bench_options;

/* Milliseconds of runs in their order. */
typedef struct samples {
    double *ms; /* malloc */
    int count, room;
} samples;

/* Statistics of samples; quantiles are interpolated. */
typedef struct summary {
    double median, q1, q3, p90, p99, min, max;
} summary;

/* Runs one after the other, or several at a time. */
typedef struct throughput {
    int runs;
    double seconds;  /* from the first upload to the last result */
    summary latency; /* of each run, from its upload to its results */
} throughput;

/* Phases of one run. */
typedef struct run_times {
    double upload_ms, run_ms, readback_ms;
} run_times;

/* The minimum time at the device's peaks: for operations, or for bytes moved. */
typedef struct roofline {
    double ms; /* negative: the device has no peaks */
    bool by_bytes;
} roofline;

/* From process start to first result. */
typedef struct start_figures {
    double ms, compile_ms;
    int programs, cached; /* cached: programs from Tessera's cache on disk */
} start_figures;

typedef struct bench_layer {
    tsr_node_report node; /* strings belong to the timed session; ms is of the latest run */
    double ms;            /* median; negative: not measured */
    double there_ms;      /* of the layers of --against that it stands for; negative: unknown */
    roofline bound;
} bench_layer;

/* Of all layers, or those of one operator. */
typedef struct bench_sum {
    label op; /* without what is fused into it */
    int layers;
    int64_t macs, draws;
    uint64_t bytes;
    double ms, there_ms, bound_ms; /* negative: of no layer */
} bench_sum;

typedef struct bench_baseline {
    label name;
    int pairs;
    summary ours, theirs, ratio; /* milliseconds; ours / theirs, per pair of runs */
    struct cJSON *layers;        /* of bench_layers_json(); NULL: not asked for, or not known */
} bench_baseline;

typedef struct bench_training {
    summary step, run, ratio; /* milliseconds; step / run, per pair */
    double first_ms;          /* the first step */
    tsr_report report;        /* of a step */
} bench_training;

typedef struct bench {
    job *j;
    const bench_options *o;
    tsr_device *device;
    tsr_device_info info;
    int output_count;
    float **outputs; /* allocated by the first run */
    tsr_device_peaks peaks;
    start_figures cold, warm;
    throughput steady; /* one run at a time */
    samples samples;   /* of its runs */
    throughput flight; /* with --in-flight runs at a time; no runs: not asked for */
    tsr_report report; /* of the steady session */
    uint64_t bytes, upload_bytes, readback_bytes;
    int64_t draws;
    double bound_ms;    /* of all layers, upload and readback; negative: unknown */
    run_times latest;   /* of the latest run */
    tsr_session *timed; /* with GPU timers; NULL without --layers */
    double gpu_ms;      /* its median; negative: not measured */
    int layer_count, layer_runs;
    bench_layer *layers;
    bench_sum all;
    int operator_count; /* those that need most time first */
    bench_sum *operators;
    bench_baseline baseline;
    bench_training training; /* --train */
} bench;

/* ---- bench_figures.c ------------------------------------------------------------------------- */

tsr_status samples_add(samples *s, double ms);
/* Sorts the samples, and frees them. */
summary samples_take(samples *s);
roofline bench_bound(const tsr_device_peaks *peaks, int64_t macs, uint64_t bytes);
/* GFLOP/s; 0 if unknown. */
double bench_gflops(int64_t macs, double ms);
/* Of the time of all layers; 0 if unknown. */
double bench_share(const bench *b, const bench_sum *sum);
/* Runs a second. */
double bench_rate(const throughput *t);
/* What a run counts for. */
int bench_batch(const bench_options *o);

/* Whether a part of the benchmark that began then, and has `done` runs, makes one more. */
bool bench_goes_on(const bench_options *o, int done, double began_ms);
/* Shows that this run, of a part of the benchmark, is next. */
void bench_progress(const bench_options *o, int done, const char *what);

/* ---- bench_batch.c --------------------------------------------------------------------------- */

/* Makes `batch` the size of every input's first axis, which has one element or already `batch`. */
tsr_status bench_set_batch(job *j, int batch);
/* Repeats elements to these sizes: once a session has been planned with them. */
tsr_status bench_repeat_inputs(job *j);

/* ---- bench_run.c: runs ----------------------------------------------------------------------- */

enum { BENCH_TUNE_MS = 1000 }; /* steady runs are to be the fastest; starts are not tuned */

/* Upload, run and readback of every output; returns the milliseconds in *ms. */
tsr_status bench_run(bench *b, tsr_session *session, double *ms);
/* An output of the latest or the selected run, to b->outputs. */
tsr_status bench_read_output(bench *b, tsr_session *session, int index);
/* More runs at first than are timed. With transfers, or (timed) only the run between them. */
tsr_status bench_warm_up(bench *b, tsr_session *session, bool timed);
tsr_status bench_measure(bench *b);
void bench_free(bench *b);

/* bench_flight.c: several runs at a time, whose results must be those of runs alone. */
tsr_status bench_flight(bench *b, tsr_session *session);

/* bench_layers.c: whether something that was asked for shows layers. */
bool bench_wants_layers(const bench_options *o);
/* A session with GPU timers: layers, their sum, and sums by operator. */
tsr_status bench_time_layers(bench *b);
/* Names, outputs and times of the layers. */
struct cJSON *bench_layers_json(const bench *b);

/* bench_train.c: training steps, alternating with runs of the session. */
tsr_status bench_train(bench *b, tsr_session *session, int tune_ms);

/* ---- bench_server.c: a process that executes runs on request ------------------------ / */

typedef struct server {
    pid_t pid;
    FILE *to, *from;
} server;

/* Starts a tool (NULL: this executable) with our arguments and `--serve BACKEND`. */
tsr_status server_start(const bench_options *o, const char *tool, const char *backend,
                        char **environment, server *made);
/* It ends when its pipes are closed; after a failure it is killed. */
void server_stop(server *s, tsr_status status);
/* Its first run, and the name of its device. If it does not answer, it has printed the reason. */
tsr_status server_begin(server *s, start_figures *figures, label *name);
tsr_status server_run(server *s, double *ms);
/* Its layers as of bench_layers_json(), NULL if it is a build that does not tell them. */
tsr_status server_layers(server *s, struct cJSON **layers);

/* The server: waits for "begin", then runs until the standard input ends. */
bool serve_awaits_begin(void);
tsr_status bench_serve(bench *b);

/* ---- clients of such processes
 * ------------------------------------------------------------------- / */

/* bench_start.c: cold start, then warm start. */
tsr_status bench_starts(bench *b);
/* bench_against.c: two of them in alternating runs. */
tsr_status bench_against(bench *b);

/* ---- output --------------------------------------------------------------------------- / */

void bench_print(const bench *b);
tsr_status bench_write_json(const bench *b, const char *path);
/* The latest run in Chrome's trace event format. */
tsr_status bench_write_trace(const bench *b, const char *path);
/* A bar chart of the layers. */
tsr_status bench_write_svg(const bench *b, const char *path);

#endif
