/* Results of `tessera bench`, and functions that measure and write them. */
#ifndef TESSERA_BENCH_H
#define TESSERA_BENCH_H

#include "job.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct bench_options {
    job_options job;
    int runs, warmup;
    bool layers, train;
    char *json, *trace, *svg;
    char *against; /* a backend, or the path of another build's tessera */
    char *serve;   /* the backend to run as a server on */
    int argc;      /* the arguments of the command, for server processes: not owned */
    char **argv;
} bench_options;

/* Statistics of samples; quartiles are interpolated. */
typedef struct summary {
    double median, q1, q3, min, max;
} summary;

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
    roofline bound;
} bench_layer;

typedef struct bench_baseline {
    label name;
    summary ours, theirs, ratio; /* milliseconds; ours / theirs, per pair of runs */
} bench_baseline;

typedef struct bench_training {
    summary step, run, ratio; /* milliseconds; step / run, per pair */
    double first_ms;          /* the first step */
    tsr_report report;        /* of a step */
} bench_training;

typedef struct bench {
    const job *j;
    const bench_options *o;
    tsr_device *device;
    tsr_device_info info;
    int output_count;
    float **outputs; /* allocated by the first run */
    tsr_device_peaks peaks;
    start_figures cold, warm;
    summary steady;
    double *samples;   /* milliseconds of its runs, in their order */
    tsr_report report; /* of the steady session */
    uint64_t bytes, upload_bytes, readback_bytes;
    int64_t draws;
    double bound_ms;    /* of all layers, upload and readback; negative: unknown */
    run_times latest;   /* of the latest run */
    tsr_session *timed; /* with GPU timers; NULL without --layers */
    double gpu_ms;      /* its median; negative: not measured */
    int layer_count;
    bench_layer *layers;
    bench_baseline baseline;
    bench_training training; /* --train */
} bench;

/* Sorts the samples. */
summary summarize(double *samples, int count);
roofline bench_bound(const tsr_device_peaks *peaks, int64_t macs, uint64_t bytes);
/* GFLOP/s; 0 if unknown. */
double bench_gflops(int64_t macs, double ms);

/* ---- bench_run.c: runs ----------------------------------------------------------------------- */

/* Upload, run and readback of every output; returns the milliseconds in *ms. */
tsr_status bench_run(bench *b, tsr_session *session, double *ms);
tsr_status bench_measure(bench *b);
void bench_free(bench *b);

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
