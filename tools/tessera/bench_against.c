/* Two backends or builds in alternating runs, each in a separate process. Each process times its
 * own runs, so pipes are not included. */
#include "bench.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

typedef struct paired_runs {
    server ours, theirs;
    double *our_ms, *their_ms, *ratios; /* by pair of runs */
} paired_runs;

/* The order alternates, so that drift of the machine's speed affects both equally. */
static tsr_status run_pair(paired_runs *c, int index) {
    if (index % 2)
        TRY(server_run(&c->theirs, &c->their_ms[index]));
    TRY(server_run(&c->ours, &c->our_ms[index]));
    if (index % 2 == 0)
        TRY(server_run(&c->theirs, &c->their_ms[index]));
    c->ratios[index] = c->our_ms[index] / c->their_ms[index];
    return TSR_OK;
}

static tsr_status begin(bench *b, paired_runs *c) {
    start_figures unused;
    label our_name;
    progress("starting %s", b->o->against);
    TRY(server_begin(&c->ours, &unused, &our_name));
    TRY(server_begin(&c->theirs, &unused, &b->baseline.name));
    for (int i = 0; i < b->o->warmup; i++)
        TRY(run_pair(c, 0));
    return TSR_OK;
}

static tsr_status run_pairs(bench *b, paired_runs *c) {
    int runs = b->o->runs;
    TRY(begin(b, c));
    for (int i = 0; i < runs; i++) {
        progress("pair %d of %d against %s", i + 1, runs, b->baseline.name.text);
        TRY(run_pair(c, i));
    }
    progress_clear();
    b->baseline.ours = summarize(c->our_ms, runs);
    b->baseline.theirs = summarize(c->their_ms, runs);
    b->baseline.ratio = summarize(c->ratios, runs);
    return TSR_OK;
}

/* A path contains a slash, a backend's name does not. */
static tsr_status start_theirs(const bench *b, paired_runs *c) {
    const char *against = b->o->against;
    bool build = strchr(against, '/') != NULL;
    return server_start(b->o, build ? against : NULL, build ? b->info.backend : against, environ,
                        &c->theirs);
}

tsr_status bench_against(bench *b) {
    size_t runs = (size_t)b->o->runs;
    paired_runs c = {.our_ms = calloc(runs, 3 * sizeof(double))};
    if (!c.our_ms)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for %d runs", b->o->runs);
    c.their_ms = c.our_ms + runs;
    c.ratios = c.their_ms + runs;
    tsr_status status = start_theirs(b, &c);
    if (status == TSR_OK)
        status = server_start(b->o, NULL, b->info.backend, environ, &c.ours);
    if (status == TSR_OK)
        status = run_pairs(b, &c);
    server_stop(&c.ours, status);
    server_stop(&c.theirs, status);
    free(c.our_ms);
    return status;
}
