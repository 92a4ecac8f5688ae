/* What every command shares: one failure message, exit codes, the log, progress. */
#ifndef TESSERA_TOOL_H
#define TESSERA_TOOL_H

#include "tessera.h"

enum { EXIT_DONE = 0, EXIT_MISMATCH = 1, EXIT_BAD_INPUT = 2, EXIT_DEVICE = 3 };

#if defined(__GNUC__)
#define TOOL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TOOL_PRINTF(fmt, args)
#endif

/* Keeps the message until the next failure and returns status. */
tsr_status fail(tsr_status status, const char *format, ...) TOOL_PRINTF(2, 3);
/* The same with the library's message: clean-up calls that follow cannot overwrite it. */
tsr_status fail_library(tsr_status status);
const char *failure(void);

/* The exit code of a command that ended so; prints the message of a failure. */
int command_exit(tsr_status status);

/* Of functions of the tool and of the library: return from the calling function on failure. */
#define TRY(expression)                                                                            \
    do {                                                                                           \
        tsr_status try_status_ = (expression);                                                     \
        if (try_status_ != TSR_OK)                                                                 \
            return try_status_;                                                                    \
    } while (0)
#define TRY_LIBRARY(expression)                                                                    \
    do {                                                                                           \
        tsr_status try_status_ = (expression);                                                     \
        if (try_status_ != TSR_OK)                                                                 \
            return fail_library(try_status_);                                                      \
    } while (0)

/* The library's messages go to stderr: warnings always, more with each level of verbosity. */
void log_to_stderr(int verbosity);

/* A line on stderr that the next one replaces; shown only on a terminal. */
void progress(const char *format, ...) TOOL_PRINTF(1, 2);
void progress_clear(void);

/* Whether the library's informative messages are such lines, where they are not printed. */
void log_as_progress(bool on);

double now_ms(void); /* monotonic */

/* Until they are released, the signals that ask a program to end are handled so, unless they are
 * ignored. Not to be nested. */
void signals_catch(void (*handler)(int number));
void signals_release(void);

/* One function per command; argv[0] is the command's name. Each returns the exit code. */
#define COMMANDS(X)                                                                                \
    X(info, "inputs, outputs, operators, multiply-adds and the plan of each backend")              \
    X(run, "run a model on files and write its outputs")                                           \
    X(bench, "cold, warm and steady times, GFLOP/s, bytes, programs")                              \
    X(compare, "compare backends with each other or with stored outputs")                          \
    X(check, "run ONNX test folders")                                                              \
    X(show, "draw a tensor as the mosaic of its channels")                                         \
    X(devices, "list what each backend finds here")

#define COMMAND_DECLARE(name, text) int cmd_##name(int argc, char **argv);
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
