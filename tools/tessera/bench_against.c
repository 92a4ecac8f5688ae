/* Two backends or builds in alternating runs, each in a separate process. Each process times its
 * own runs, so pipes are not included. */
#include "bench.h"
#include "tool.h"

#include <string.h>

extern char **environ;

typedef struct paired_runs {
    server ours, theirs;
    samples our_ms, their_ms, ratios; /* by pair of runs */
} paired_runs;

/* The order alternates, so that drift of the machine's speed affects both equally. */
static tsr_status run_pair(paired_runs *c, int index, double *ours, double *theirs) {
    if (index % 2)
        TRY(server_run(&c->theirs, theirs));
    TRY(server_run(&c->ours, ours));
    if (index % 2 == 0)
        TRY(server_run(&c->theirs, theirs));
    return TSR_OK;
}

static tsr_status begin(bench *b, paired_runs *c) {
    start_figures unused;
    label our_name;
    double ours, theirs;
    progress("starting %s", b->o->against);
    TRY(server_begin(&c->ours, &unused, &our_name));
    TRY(server_begin(&c->theirs, &unused, &b->baseline.name));
    for (int i = 0; i < b->o->warmup; i++)
        TRY(run_pair(c, 0, &ours, &theirs));
    return TSR_OK;
}

static tsr_status time_pairs(bench *b, paired_runs *c) {
    double ours, theirs, began = now_ms();
    while (bench_goes_on(b->o, c->ratios.count, began)) {
        bench_progress(b->o, c->ratios.count, "pair");
        TRY(run_pair(c, c->ratios.count, &ours, &theirs));
        TRY(samples_add(&c->our_ms, ours));
        TRY(samples_add(&c->their_ms, theirs));
        TRY(samples_add(&c->ratios, ours / theirs));
    }
    b->baseline.pairs = c->ratios.count;
    return TSR_OK;
}

static tsr_status run_pairs(bench *b, paired_runs *c) {
    TRY(begin(b, c));
    tsr_status status = time_pairs(b, c);
    progress_clear();
    b->baseline.ours = samples_take(&c->our_ms);
    b->baseline.theirs = samples_take(&c->their_ms);
    b->baseline.ratio = samples_take(&c->ratios);
    return status;
}

static tsr_status ask_layers(bench *b, paired_runs *c) {
    progress("layers of %s", b->baseline.name.text);
    TRY(server_layers(&c->theirs, &b->baseline.layers));
    progress_clear();
    if (!b->baseline.layers)
        note("%s: it does not tell its layers", b->o->against);
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
    paired_runs c = {0};
    tsr_status status = start_theirs(b, &c);
    if (status == TSR_OK)
        status = server_start(b->o, NULL, b->info.backend, environ, &c.ours);
    if (status == TSR_OK)
        status = run_pairs(b, &c);
    if (status == TSR_OK && bench_wants_layers(b->o))
        status = ask_layers(b, &c);
    server_stop(&c.ours, status);
    server_stop(&c.theirs, status);
    return status;
}
