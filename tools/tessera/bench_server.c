/* A process that executes one run for each line it receives.
 *
 * request   answer
 * begin     after the first run: programs, those from the cache, compile ms, the device's name
 * run       milliseconds
 * layers    an array in JSON: their times, by GPU timers where there are some
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "json.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- server --------------------------------------------------------------------------------- */

bool serve_awaits_begin(void) {
    char line[64];
    return fgets(line, sizeof line, stdin) != NULL;
}

static tsr_status answer_run(bench *b, tsr_session *session) {
    double ms;
    TRY(bench_run(b, session, &ms));
    printf("%.6f\n", ms);
    return TSR_OK;
}

static tsr_status answer_layers(bench *b) {
    TRY(bench_time_layers(b));
    cJSON *layers = bench_layers_json(b);
    char *text = cJSON_PrintUnformatted(layers);
    cJSON_Delete(layers);
    if (!text)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    puts(text);
    cJSON_free(text);
    return TSR_OK;
}

static tsr_status serve_runs(bench *b, tsr_session *session) {
    double ms;
    char line[64];
    TRY(bench_run(b, session, &ms));
    TRY_LIBRARY(tsr_session_report(session, &b->report));
    printf("%d %d %.6f %s: %s\n", b->report.program_count, b->report.cached_programs,
           b->report.compile_ms, b->info.backend, b->info.name);
    while (fflush(stdout) == 0) {
        if (!fgets(line, sizeof line, stdin))
            return TSR_OK;
        TRY(strcmp(line, "layers\n") == 0 ? answer_layers(b) : answer_run(b, session));
    }
    return fail(TSR_ERROR_IO, "the process that requested runs closed the pipe");
}

tsr_status bench_serve(bench *b) {
    tsr_session *session;
    TRY(job_device(&b->o->job, NULL, &b->device));
    TRY_LIBRARY(tsr_device_get_info(b->device, &b->info));
    TRY(job_session(b->j, b->device, &(tsr_session_desc){0}, &session));
    tsr_status status = b->o->batch ? bench_repeat_inputs(b->j) : TSR_OK;
    if (status == TSR_OK)
        status = serve_runs(b, session);
    tsr_session_destroy(session);
    return status;
}

/* ---- starting a server ----------------------------------------------------------------------- */

static void close_both(const int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

/* Pipes that other child processes do not inherit. */
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

static int spawn(const char *path, char **argv, char **environment, int input, int output,
                 pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawn(pid, path, &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static tsr_status connect_server(const char *path, char **argv, char **environment, server *made) {
    int to[2], from[2];
    if (!make_pipes(to, from))
        return fail(TSR_ERROR_IO, "no pipe to another process: %s", strerror(errno));
    int error = spawn(path, argv, environment, to[0], from[1], &made->pid);
    close(to[0]);
    close(from[1]);
    made->to = error ? NULL : fdopen(to[1], "w");
    made->from = error ? NULL : fdopen(from[0], "r");
    if (!made->to)
        close(to[1]);
    if (!made->from)
        close(from[0]);
    if (error)
        return fail(TSR_ERROR_IO, "%s: cannot be run: %s", path, strerror(error));
    return made->to && made->from ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a pipe");
}

tsr_status server_start(const bench_options *o, const char *tool, const char *backend,
                        char **environment, server *made) {
    *made = (server){0};
    const char **all = calloc((size_t)o->argc + 4, sizeof *all);
    if (!all)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    all[0] = "tessera";
    all[1] = "bench";
    all[2] = "--serve";
    all[3] = backend;
    for (int i = 1; i < o->argc; i++)
        all[3 + i] = o->argv[i];
    /* posix_spawn's argv is not const for historical reasons only. */
    tsr_status status =
        connect_server(tool ? tool : "/proc/self/exe", (char **)all, environment, made);
    free(all);
    if (status != TSR_OK)
        server_stop(made, status);
    signal(SIGPIPE, SIG_IGN); /* a process that ended is detected by its missing answer */
    return status;
}

void server_stop(server *s, tsr_status status) {
    if (s->to)
        fclose(s->to);
    if (s->from)
        fclose(s->from);
    if (s->pid > 0 && status != TSR_OK)
        kill(s->pid, SIGTERM);
    while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *s = (server){0};
}

/* ---- requests -------------------------------------------------------------------------------- */

static tsr_status ask_for_line(server *s, const char *what, char **line) {
    size_t room = 0;
    *line = NULL;
    fprintf(s->to, "%s\n", what);
    fflush(s->to);
    if (getline(line, &room, s->from) < 0) {
        free(*line);
        return fail(TSR_ERROR_DEVICE, "the benchmark process ended without an answer");
    }
    return TSR_OK;
}

static tsr_status ask(server *s, const char *what, char *answer, size_t size) {
    char *line;
    TRY(ask_for_line(s, what, &line));
    snprintf(answer, size, "%.*s", (int)strcspn(line, "\n"), line);
    free(line);
    return TSR_OK;
}

static tsr_status fail_answer(const char *answer) {
    return fail(TSR_ERROR_DEVICE, "the benchmark process answered '%s'", answer);
}

tsr_status server_begin(server *s, start_figures *figures, label *name) {
    char answer[512];
    int used = 0;
    TRY(ask(s, "begin", answer, sizeof answer));
    sscanf(answer, "%d %d %lf %n", &figures->programs, &figures->cached, &figures->compile_ms,
           &used);
    if (!used)
        return fail_answer(answer);
    snprintf(name->text, sizeof name->text, "%s", answer + used);
    return TSR_OK;
}

tsr_status server_run(server *s, double *ms) {
    char answer[64], *end;
    TRY(ask(s, "run", answer, sizeof answer));
    *ms = strtod(answer, &end);
    return end != answer && *ms > 0 ? TSR_OK : fail_answer(answer);
}

/* A build that does not know the request makes a run. */
tsr_status server_layers(server *s, struct cJSON **layers) {
    char *line;
    TRY(ask_for_line(s, "layers", &line));
    *layers = cJSON_Parse(line);
    free(line);
    if (!cJSON_IsArray(*layers)) {
        cJSON_Delete(*layers);
        *layers = NULL;
    }
    return TSR_OK;
}
