/* Samples, their statistics, rates and bounds. */
#include "bench.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>

/* ---- samples --------------------------------------------------------------------------------- */

tsr_status samples_add(samples *s, double ms) {
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 64;
        double *grown = realloc(s->ms, (size_t)room * sizeof *grown);
        if (!grown)
            return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for %d runs", room);
        s->ms = grown;
        s->room = room;
    }
    s->ms[s->count++] = ms;
    return TSR_OK;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted samples. */
static double quantile(const samples *s, double share) {
    double at = share * (s->count - 1);
    int below = (int)at;
    double next = s->ms[below + 1 < s->count ? below + 1 : below];
    return s->ms[below] + (at - below) * (next - s->ms[below]);
}

summary samples_take(samples *s) {
    summary made = {0};
    if (s->count > 0) {
        qsort(s->ms, (size_t)s->count, sizeof *s->ms, compare_doubles);
        made = (summary){.median = quantile(s, 0.5),
                         .q1 = quantile(s, 0.25),
                         .q3 = quantile(s, 0.75),
                         .p90 = quantile(s, 0.9),
                         .p99 = quantile(s, 0.99),
                         .min = s->ms[0],
                         .max = s->ms[s->count - 1]};
    }
    free(s->ms);
    *s = (samples){0};
    return made;
}

/* ---- rates ----------------------------------------------------------------------------------- */

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

double bench_share(const bench *b, const bench_sum *sum) {
    return b->all.ms > 0 && sum->ms > 0 ? sum->ms / b->all.ms : 0;
}

double bench_rate(const throughput *t) {
    return t->seconds > 0 ? t->runs / t->seconds : 0;
}

int bench_batch(const bench_options *o) {
    return o->batch ? o->batch : 1;
}

/* ---- how many runs --------------------------------------------------------------------------- */

bool bench_goes_on(const bench_options *o, int done, double began_ms) {
    if (o->runs)
        return done < o->runs;
    return done == 0 || now_ms() - began_ms < 1e3 * o->seconds;
}

void bench_progress(const bench_options *o, int done, const char *what) {
    if (o->runs)
        progress("%s %d of %d", what, done + 1, o->runs);
    else
        progress("%s %d", what, done + 1);
}
