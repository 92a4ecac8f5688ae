/* What every command shares: one failure message, exit codes, the log, progress. */
#ifndef TESSERA_TOOL_H
#define TESSERA_TOOL_H

#include "tessera.h"

enum { EXIT_DONE = 0, EXIT_MISMATCH = 1, EXIT_BAD_INPUT = 2, EXIT_DEVICE = 3 };
#define EXIT_CODES                                                                                 \
    "0 success, 1 out of tolerance, test failed, input skipped or loss not finite, "               \
    "2 bad usage or bad input, 3 device error."

#if defined(__GNUC__)
#define TOOL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TOOL_PRINTF(fmt, args)
#endif

/* Keeps the message until the next failure and returns status. */
tsr_status fail(tsr_status status, const char *format, ...) TOOL_PRINTF(2, 3);
/* The same with the library's message, so that later clean-up calls do not overwrite it. */
tsr_status fail_library(tsr_status status);
const char *failure(void);

/* The exit code for this status; prints the message of a failure. */
int command_exit(tsr_status status);

/* For functions of the tool and of the library: return from the caller on failure. */
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

/* A progress line on stderr, replaced by the next one; only on a terminal. */
void progress(const char *format, ...) TOOL_PRINTF(1, 2);
void progress_clear(void);
/* "tessera: text" on stderr, for what a user should know of a command that goes on. */
void note(const char *format, ...) TOOL_PRINTF(1, 2);

/* For tsr_progress of a call that works on the model with this path. */
bool progress_of_call(void *path, const char *what, double fraction);

/* Mesa's cache of compiled programs ends the process where its disk is full: it is switched off
 * then. Before there are threads. */
void avoid_full_disk(void);

double now_ms(void); /* monotonic */

/* Installs a handler for SIGHUP, SIGINT and SIGTERM, unless they are ignored, until
 * signals_release(). Between these others change nothing: the first handler stays. */
void signals_catch(void (*handler)(int number));
void signals_release(void);

/* One function per command; argv[0] is the command's name. Each returns the exit code. */
#define COMMANDS(X)                                                                                \
    X(info, "inputs, outputs, operators, multiply-adds and the plan of each backend")              \
    X(run, "run a model on files and write its outputs")                                           \
    X(bench, "measure cold and warm start, steady state, GFLOP/s and memory")                      \
    X(compare, "compare backends with each other or with stored outputs")                          \
    X(check, "run ONNX test folders and tests of operators in JSON")                               \
    X(describe, "print as JSON what is known of a model, for a file beside it")                    \
    X(convert, "write a model as smaller ONNX that other runtimes read as well")                   \
    X(train, "change a model's weights by samples: pictures, classes, pairs")                      \
    X(show, "draw the channels of a tensor as a mosaic")                                           \
    X(ops, "list the operators: where they run, on which types, since when they are as they are")  \
    X(devices, "list the devices of each backend")                                                 \
    X(man, "print the manual page of a command, or the one that lists all")                        \
    X(completion, "print a script for bash that completes commands and options")

#define COMMAND_DECLARE(name, text) int cmd_##name(int argc, char **argv);
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
