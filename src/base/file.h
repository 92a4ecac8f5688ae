/* A file beside a model, read from a place on: external data. */
#ifndef TSR_BASE_FILE_H
#define TSR_BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>

typedef struct tsr_file {
    void *stream; /* the system's; NULL: closed */
} tsr_file;

/* Opens the regular file `location` in a folder ("": the current one), which it must not lead out
 * of, even if symbolic links are followed. */
tsr_status tsr_file_open(const char *folder, const char *location, tsr_file *file, uint64_t *size);
tsr_status tsr_file_seek(const tsr_file *file, uint64_t at);
/* Reads the next bytes, all of them. */
bool tsr_file_read(const tsr_file *file, void *bytes, size_t size);
void tsr_file_close(tsr_file *file); /* a zeroed one is ignored */

#endif
