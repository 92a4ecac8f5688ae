/* What shader compilers say about the body of a custom operator. */
#ifndef TSR_GPU_DRIVER_LOG_H
#define TSR_GPU_DRIVER_LOG_H

#include <stddef.h>

/* Copies the first line of a log that tells of an error: warnings, of our code too, may be before
 * it. The first line if none does. */
void tsr_driver_log_error(const char *log, char *line, size_t size);

#endif
