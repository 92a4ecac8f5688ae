#include "message.h"

#include <stdarg.h>
#include <stdio.h>

static char latest[512];

bool complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(latest, sizeof latest, format, arguments);
    va_end(arguments);
    fprintf(stderr, PROGRAM_NAME ": %s\n", latest);
    return false;
}

void announce(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(latest, sizeof latest, format, arguments);
    va_end(arguments);
}

const char *latest_message(void) {
    return latest;
}
