#define _POSIX_C_SOURCE 200809L
#include "tool.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static char message[4096];
static tsr_log_level log_threshold;

tsr_status fail(tsr_status status, const char *format, ...) {
    char raw[sizeof message];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    tsr_escape(raw, message, sizeof message);
    return status;
}

tsr_status fail_library(tsr_status status) {
    const char *text = tsr_last_error();
    return fail(status, "%s", text[0] ? text : tsr_status_text(status));
}

const char *failure(void) {
    return message;
}

int command_exit(tsr_status status) {
    if (status == TSR_OK)
        return EXIT_DONE;
    progress_clear();
    fflush(stdout);
    fprintf(stderr, "tessera: %s\n", message);
    switch (status) {
    case TSR_ERROR_NO_DEVICE:
    case TSR_ERROR_DEVICE:
    case TSR_ERROR_DEVICE_LOST:
    case TSR_ERROR_LIMIT:
        return EXIT_DEVICE;
    default:
        return EXIT_BAD_INPUT;
    }
}

static void print_log(void *user, tsr_log_level level, const char *text) {
    (void)user;
    static const char *const prefix[] = {"error: ", "warning: ", "", ""};
    if (level > log_threshold)
        return;
    progress_clear();
    fprintf(stderr, "tessera: %s%s\n", prefix[level], text);
}

void log_to_stderr(int verbosity) {
    int level = TSR_LOG_WARN + verbosity;
    log_threshold = (tsr_log_level)(level > TSR_LOG_DEBUG ? TSR_LOG_DEBUG : level);
    tsr_set_log(print_log, NULL);
}

void progress(const char *format, ...) {
    if (!isatty(STDERR_FILENO))
        return;
    char raw[1024], line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    fprintf(stderr, "\r\033[K%s", tsr_escape(raw, line, sizeof line));
    fflush(stderr);
}

void progress_clear(void) {
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

void note(const char *format, ...) {
    char raw[1024], line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    progress_clear();
    fprintf(stderr, "tessera: %s\n", tsr_escape(raw, line, sizeof line));
}

bool progress_of_call(void *path, const char *what, double fraction) {
    progress("%s: %s, %.0f%%", (const char *)path, what, 100 * fraction);
    return true;
}

double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static const int end_signals[] = {SIGHUP, SIGINT, SIGTERM};
enum { END_SIGNALS = sizeof end_signals / sizeof *end_signals };
static struct sigaction actions_before[END_SIGNALS];
static int catches; /* without their releases */

/* Without SA_RESTART: waiting for another process is interrupted. */
void signals_catch(void (*handler)(int number)) {
    struct sigaction action = {.sa_handler = handler};
    if (catches++)
        return;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < END_SIGNALS; i++) {
        sigaction(end_signals[i], NULL, &actions_before[i]);
        if (actions_before[i].sa_handler != SIG_IGN)
            sigaction(end_signals[i], &action, NULL);
    }
}

void signals_release(void) {
    if (--catches)
        return;
    for (int i = 0; i < END_SIGNALS; i++)
        sigaction(end_signals[i], &actions_before[i], NULL);
}
