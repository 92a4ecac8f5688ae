#include "gpu/driver_log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool tells_of_error(const char *line, size_t length) {
    static const char *const words[] = {"error", "Error", "ERROR"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(line, words[i]);
        if (found && found < line + length)
            return true;
    }
    return false;
}

void tsr_driver_log_error(const char *log, char *line, size_t size) {
    const char *chosen = log;
    for (const char *at = log; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (tells_of_error(at, strcspn(at, "\n"))) {
            chosen = at;
            break;
        }
    snprintf(line, size, "%.*s", (int)strcspn(chosen, "\n"), chosen);
}
