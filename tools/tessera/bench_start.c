/* Start-up times, from process start to first result: one with empty caches on disk, Tessera's and
 * the driver's, then one with the caches that the first one filled. */
#define _XOPEN_SOURCE 700
#include "bench.h"
#include "tool.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Cache folders of Tessera, Mesa and NVIDIA's driver. */
static const char *const variables[] = {
    "XDG_CACHE_HOME=", "MESA_SHADER_CACHE_DIR=", "__GL_SHADER_DISK_CACHE_PATH="};

enum { VARIABLES = sizeof variables / sizeof *variables };

typedef struct cache_folder {
    char path[256];
    char settings[VARIABLES][320];
    char **environment; /* our environment, with caches in that folder */
} cache_folder;

static bool is_replaced(const char *setting) {
    for (int i = 0; i < VARIABLES; i++)
        if (strncmp(setting, variables[i], strlen(variables[i])) == 0)
            return true;
    return false;
}

static tsr_status folder_create(cache_folder *f) {
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    const char *base = getenv("TMPDIR"); /* caches ignore a relative path */
    snprintf(f->path, sizeof f->path, "%s/tessera_bench_XXXXXX",
             base && *base == '/' ? base : "/tmp");
    if (!mkdtemp(f->path))
        return fail(TSR_ERROR_IO, "%s: cannot make a folder: %s", f->path, strerror(errno));
    f->environment = calloc(count + VARIABLES + 1, sizeof *f->environment);
    if (!f->environment) {
        rmdir(f->path);
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(environ[i]))
            f->environment[used++] = environ[i];
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(f->settings[i], sizeof f->settings[i], "%s%s", variables[i], f->path);
        f->environment[used++] = f->settings[i];
    }
    return TSR_OK;
}

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *place) {
    (void)entry, (void)kind, (void)place;
    return remove(path);
}

static void folder_remove(cache_folder *f) {
    nftw(f->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(f->environment);
}

static volatile sig_atomic_t interruption; /* a signal's number, or 0 */

static void note_interruption(int number) {
    interruption = number;
}

static tsr_status time_start(const bench *b, const cache_folder *f, start_figures *figures) {
    server s;
    label name;
    double start = now_ms();
    if (interruption)
        return fail(TSR_ERROR_IO, "interrupted");
    TRY(server_start(b->o, NULL, b->info.backend, f->environment, &s));
    tsr_status status = server_begin(&s, figures, &name);
    figures->ms = now_ms() - start;
    server_stop(&s, status);
    return status;
}

static tsr_status time_starts(bench *b, const cache_folder *f) {
    progress("cold start");
    TRY(time_start(b, f, &b->cold));
    progress("warm start");
    return time_start(b, f, &b->warm);
}

/* The folder is always removed. */
tsr_status bench_starts(bench *b) {
    cache_folder f;
    signals_catch(note_interruption);
    tsr_status status = folder_create(&f);
    if (status == TSR_OK) {
        status = time_starts(b, &f);
        progress_clear();
        folder_remove(&f);
    }
    signals_release();
    if (interruption)
        raise(interruption);
    return status;
}
