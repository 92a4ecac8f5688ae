/* Two backends or builds, in turns: ours here, the other one in a child process that makes one run
 * for each line it is sent. Both sides time themselves; the pipe is in neither time.
 *
 *     to the server          from the server
 *     begin                  the device's name, once it has run as often as its warm-up wants
 *     run                    milliseconds */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the server --------------------------------------------------------------------------------
 */

bool serve_awaits_begin(void) {
    char line[64];
    return fgets(line, sizeof line, stdin) != NULL;
}

static bool answer_run(double ms) {
    printf("%.6f\n", ms);
    return fflush(stdout) == 0;
}

static tsr_status serve_runs(bench *b, tsr_session *session) {
    double ms;
    char line[64];
    for (int i = 0; i <= b->o->warmup; i++)
        TRY(bench_run(b, session, &ms));
    printf("%s: %s\n", b->info.backend, b->info.name);
    fflush(stdout);
    do {
        if (!fgets(line, sizeof line, stdin))
            return TSR_OK;
        TRY(bench_run(b, session, &ms));
    } while (answer_run(ms));
    return fail(TSR_IO, "who asked for runs does not listen any more");
}

tsr_status bench_serve(bench *b) {
    tsr_session *session;
    TRY(job_device(&b->o->job, NULL, &b->device));
    TRY_LIBRARY(tsr_device_get_info(b->device, &b->info));
    TRY(job_session(b->j, b->device, &(tsr_session_desc){0}, &session));
    tsr_status status = serve_runs(b, session);
    tsr_session_destroy(session);
    return status;
}

/* ---- its process -------------------------------------------------------------------------------
 */

static void close_both(const int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

/* Pipes that only the two processes hold. */
static bool make_pipes(int to[2], int from[2]) {
    if (pipe(to) != 0)
        return false;
    if (pipe(from) != 0) {
        close_both(to);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(to[i], F_SETFD, FD_CLOEXEC);
        fcntl(from[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

static int spawn(const char *path, char **argv, int input, int output, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawn(pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static tsr_status connect_server(const char *path, char **argv, server *made) {
    int to[2], from[2];
    if (!make_pipes(to, from))
        return fail(TSR_IO, "no pipe to another process: %s", strerror(errno));
    int error = spawn(path, argv, to[0], from[1], &made->pid);
    close(to[0]);
    close(from[1]);
    made->to = error ? NULL : fdopen(to[1], "w");
    made->from = error ? NULL : fdopen(from[0], "r");
    if (!made->to)
        close(to[1]);
    if (!made->from)
        close(from[0]);
    if (error)
        return fail(TSR_IO, "%s: cannot be run: %s", path, strerror(error));
    return made->to && made->from ? TSR_OK : fail(TSR_OUT_OF_MEMORY, "no memory for a pipe");
}

/* A path has a slash, a backend's name none. */
tsr_status server_start(const bench_options *o, int argc, char **argv, server *made) {
    static char command[] = "bench", option[] = "--serve", usual[] = "gles";
    bool build = strchr(o->against, '/') != NULL;
    char *backend = !build ? o->against : o->job.backend ? o->job.backend : usual;
    const char *path = build ? o->against : "/proc/self/exe";
    char **all = calloc((size_t)argc + 4, sizeof *all);
    if (!all)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory");
    all[0] = o->against;
    all[1] = command;
    all[2] = option;
    all[3] = backend;
    memcpy(all + 4, argv + 1, (size_t)(argc - 1) * sizeof *all);
    tsr_status status = connect_server(path, all, made);
    free(all);
    if (status != TSR_OK)
        server_stop(made);
    signal(SIGPIPE, SIG_IGN); /* a server that ended is noticed where its answer is missing */
    return status;
}

void server_stop(server *s) {
    if (s->to)
        fclose(s->to);
    if (s->from)
        fclose(s->from);
    if (s->pid > 0)
        waitpid(s->pid, NULL, 0);
    *s = (server){0};
}

static tsr_status ask(server *s, const char *what, char *answer, int size) {
    fprintf(s->to, "%s\n", what);
    fflush(s->to);
    if (!fgets(answer, size, s->from))
        return fail(TSR_DEVICE, "the other side of --against ended without an answer");
    answer[strcspn(answer, "\n")] = '\0';
    return TSR_OK;
}

static tsr_status ask_run(server *s, double *ms) {
    char answer[64], *end;
    TRY(ask(s, "run", answer, sizeof answer));
    *ms = strtod(answer, &end);
    if (end == answer || *ms <= 0)
        return fail(TSR_DEVICE, "the other side of --against answered '%s'", answer);
    return TSR_OK;
}

/* ---- in turns ----------------------------------------------------------------------------------
 */

/* Who is first changes each time: a drift of the machine's speed falls on both. */
static tsr_status run_pair(bench *b, tsr_session *session, server *s, int index, double *ours,
                           double *theirs) {
    progress("pair %d of %d against %s", index + 1, b->o->runs, b->rival.name.text);
    if (index % 2)
        TRY(ask_run(s, theirs));
    TRY(bench_run(b, session, ours));
    return index % 2 ? TSR_OK : ask_run(s, theirs);
}

tsr_status bench_against(bench *b, tsr_session *session, server *s) {
    int runs = b->o->runs;
    bench_rival *rival = &b->rival;
    progress("waiting for %s", b->o->against);
    TRY(ask(s, "begin", rival->name.text, sizeof rival->name.text));
    double *ours = calloc((size_t)runs, 3 * sizeof *ours);
    if (!ours)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory for %d runs", runs);
    double *theirs = ours + runs, *ratios = theirs + runs;
    tsr_status status = TSR_OK;
    for (int i = 0; status == TSR_OK && i < runs; i++) {
        status = run_pair(b, session, s, i, &ours[i], &theirs[i]);
        ratios[i] = status == TSR_OK ? ours[i] / theirs[i] : 0;
    }
    progress_clear();
    rival->ours = spread_of(ours, runs);
    rival->theirs = spread_of(theirs, runs);
    rival->ratio = spread_of(ratios, runs);
    free(ours);
    return status;
}
