/* Two backends or builds, in turns: ours here, the other one in a process of its own. Both sides
 * time themselves: the pipe between them is in neither time. */
#include "bench.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Who is first changes each time: a drift of the machine's speed falls on both. */
static tsr_status run_pair(bench *b, tsr_session *session, server *s, int index, double *ours,
                           double *theirs) {
    progress("pair %d of %d against %s", index + 1, b->o->runs, b->rival.name.text);
    if (index % 2)
        TRY(server_run(s, theirs));
    TRY(bench_run(b, session, ours));
    return index % 2 ? TSR_OK : server_run(s, theirs);
}

static tsr_status run_pairs(bench *b, tsr_session *session, server *s, double *ours, double *theirs,
                            double *ratios) {
    for (int i = 0; i < b->o->warmup; i++)
        TRY(server_run(s, theirs));
    for (int i = 0; i < b->o->runs; i++) {
        TRY(run_pair(b, session, s, i, &ours[i], &theirs[i]));
        ratios[i] = ours[i] / theirs[i];
    }
    progress_clear();
    b->rival.ours = spread_of(ours, b->o->runs);
    b->rival.theirs = spread_of(theirs, b->o->runs);
    b->rival.ratio = spread_of(ratios, b->o->runs);
    return TSR_OK;
}

static tsr_status run_against(bench *b, tsr_session *session, server *s) {
    size_t runs = (size_t)b->o->runs;
    start_figures unused;
    progress("starting %s", b->o->against);
    TRY(server_begin(s, &unused, &b->rival.name));
    double *ms = calloc(runs, 3 * sizeof *ms);
    if (!ms)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory for %d runs", b->o->runs);
    tsr_status status = run_pairs(b, session, s, ms, ms + runs, ms + 2 * runs);
    free(ms);
    return status;
}

/* A path has a slash, a backend's name none. */
tsr_status bench_against(bench *b, tsr_session *session) {
    server s;
    bool build = strchr(b->o->against, '/') != NULL;
    TRY(server_start(b->o, build ? b->o->against : NULL, build ? b->info.backend : b->o->against,
                     environ, &s));
    tsr_status status = run_against(b, session, &s);
    server_stop(&s);
    return status;
}
