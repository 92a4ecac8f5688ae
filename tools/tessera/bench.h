/* What `tessera bench` measures, and those who write it down. */
#ifndef TESSERA_BENCH_H
#define TESSERA_BENCH_H

#include "job.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct bench_options {
    job_options job;
    int runs, warmup;
    bool layers;
    char *json, *trace, *svg;
    char *against; /* a backend, or the path of another build's tool */
    char *serve;   /* the backend to serve runs on */
    int argc;      /* what the command was given, for processes that do the same: not owned */
    char **argv;
} bench_options;

/* Of samples; quartiles between two of them are interpolated. */
typedef struct spread {
    double median, q1, q3, min, max;
} spread;

/* Where the time of one run went. */
typedef struct run_times {
    double upload_ms, run_ms, readback_ms;
} run_times;

/* The least that something can take, by the device's peaks: operations, or bytes moved. */
typedef struct roofline {
    double ms; /* negative: the device has no peaks */
    bool by_bytes;
} roofline;

/* A process from its start to its first result. */
typedef struct start_figures {
    double ms, compile_ms;
    int programs, cached; /* cached: of the programs, from Tessera's cache on disk */
} start_figures;

typedef struct bench_layer {
    tsr_node_report node; /* its strings are the timed session's; its ms are of the latest run */
    double ms;            /* median; negative: not measured */
    roofline bound;
} bench_layer;

typedef struct bench_rival {
    label name;
    spread ours, theirs, ratio; /* milliseconds; ours by theirs, run by run */
} bench_rival;

typedef struct bench {
    const job *j;
    const bench_options *o;
    tsr_device *device;
    tsr_device_info info;
    int output_count;
    float **outputs; /* allocated by the first run */
    tsr_device_peaks peaks;
    start_figures cold, warm;
    spread steady;
    tsr_report report; /* of the steady session */
    uint64_t bytes, upload_bytes, readback_bytes;
    int64_t draws;
    double bound_ms;    /* of all layers, upload and readback; negative: unknown */
    run_times latest;   /* of the latest run */
    tsr_session *timed; /* with GPU timers; NULL where layers are not asked for */
    double gpu_ms;      /* its median; negative: not measured */
    int layer_count;
    bench_layer *layers;
    bench_rival rival;
} bench;

/* Sorts the samples. */
spread spread_of(double *samples, int count);
roofline bench_bound(const tsr_device_peaks *peaks, int64_t macs, uint64_t bytes);
/* GFLOP/s; 0 where there is nothing to count. */
double bench_gflops(int64_t macs, double ms);

/* ---- bench_run.c: runs -------------------------------------------------------------------------
 */

/* Upload, run and readback of every output; returns the milliseconds in *ms. */
tsr_status bench_run(bench *b, tsr_session *session, double *ms);
tsr_status bench_measure(bench *b);
void bench_free(bench *b);

/* ---- bench_server.c: a process that makes one run each time it is asked ------------------------
 */

typedef struct server {
    pid_t pid;
    FILE *to, *from;
} server;

/* Starts a tool, NULL: this one, with the arguments that we were given and `--serve BACKEND`. */
tsr_status server_start(const bench_options *o, const char *tool, const char *backend,
                        char **environment, server *made);
/* Where it ends with the pipes; after a failure it is told to. */
void server_stop(server *s, tsr_status status);
/* Its first run, and the name of its device. Where there is no answer, the process said why. */
tsr_status server_begin(server *s, start_figures *figures, label *name);
tsr_status server_run(server *s, double *ms);

/* The other side: waits to be begun, then runs until the standard input ends. */
bool serve_awaits_begin(void);
tsr_status bench_serve(bench *b);

/* ---- who asks such processes -------------------------------------------------------------------
 */

/* bench_start.c: one with empty caches, then one with those that it left. */
tsr_status bench_starts(bench *b);
/* bench_against.c: two of them in turns. */
tsr_status bench_against(bench *b);

/* ---- what is written ---------------------------------------------------------------------------
 */

void bench_print(const bench *b);
tsr_status bench_write_json(const bench *b, const char *path);
/* The latest run in Chrome's trace event format. */
tsr_status bench_write_trace(const bench *b, const char *path);
/* A bar for each layer. */
tsr_status bench_write_svg(const bench *b, const char *path);

#endif
