#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 4096 };

static _Thread_local char message[MESSAGE_SIZE];
static _Thread_local bool until_run;
static tsr_log_fn log_fn;
static void *log_user;

const char *tsr_status_name(tsr_status status) {
    switch (status) {
#define NAME_CASE(name, text)                                                                      \
    case TSR_##name:                                                                               \
        return strncmp(#name, "ERROR_", 6) ? #name : &#name[6];
        TSR_STATUS_MAP(NAME_CASE)
#undef NAME_CASE
    }
    return "UNKNOWN";
}

const char *tsr_status_text(tsr_status status) {
    switch (status) {
#define TEXT_CASE(name, text)                                                                      \
    case TSR_##name:                                                                               \
        return text;
        TSR_STATUS_MAP(TEXT_CASE)
#undef TEXT_CASE
    }
    return "unknown status";
}

const char *tsr_version(void) {
    return TSR_VERSION;
}

const char *tsr_last_error(void) {
    return message;
}

/* Into to, MESSAGE_SIZE bytes. */
static void format_escaped(char *to, const char *format, va_list args) {
    char raw[MESSAGE_SIZE];
    vsnprintf(raw, sizeof raw, format, args);
    tsr_escape(raw, to, MESSAGE_SIZE);
}

static void set_message(bool waits, const char *format, va_list args) {
    format_escaped(message, format, args);
    until_run = waits;
}

tsr_status tsr_fail(tsr_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set_message(false, format, args);
    va_end(args);
    return status;
}

tsr_status tsr_fail_until_run(const char *format, ...) {
    va_list args;
    va_start(args, format);
    set_message(true, format, args);
    va_end(args);
    return TSR_ERROR_UNSUPPORTED;
}

bool tsr_failed_until_run(void) {
    return until_run;
}

/* What does not fit is left out. */
static void append(const char *text) {
    size_t used = strlen(message);
    tsr_escape(text, message + used, MESSAGE_SIZE - used);
}

tsr_status tsr_fail_context(tsr_status status, const char *format, ...) {
    if (status == TSR_OK)
        return status;
    char inner[MESSAGE_SIZE];
    memcpy(inner, message, sizeof inner);
    va_list args;
    va_start(args, format);
    format_escaped(message, format, args);
    va_end(args);
    append(": ");
    append(inner);
    return status;
}

void tsr_set_log(tsr_log_fn fn, void *user) {
    log_fn = fn;
    log_user = user;
}

void tsr_log(tsr_log_level level, const char *format, ...) {
    if (!log_fn)
        return;
    char line[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    format_escaped(line, format, args);
    va_end(args);
    log_fn(log_user, level, line);
}

void tsr_log_lines(tsr_log_level level, const char *text) {
    for (const char *at = text; log_fn && *at; at += *at == '\n') {
        int length = (int)strcspn(at, "\n");
        tsr_log(level, "%.*s", length, at);
        at += length;
    }
}
