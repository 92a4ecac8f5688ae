/* A file's bytes: memory-mapped, so that pages are read on first access and can be released without
 * being written, or, if it is one of the caller's tsr_files, in memory. */
#ifndef TSR_BASE_MAP_H
#define TSR_BASE_MAP_H

#include "base/progress.h"

typedef struct tsr_map {
    const void *bytes;
    size_t size;
    bool in_memory; /* else mapped */
} tsr_map;

/* Maps a regular file that is neither empty nor larger than max_bytes. It must not be changed in
 * place while it is mapped: accessing bytes that were cut off kills the process. */
tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map);
/* Reads a file of the caller's with the same limits. Progress: a stage of its own. */
tsr_status tsr_map_read(const tsr_files *files, const char *path, uint64_t max_bytes,
                        const tsr_progress_meter *progress, tsr_map *map);
/* What both check before any byte is read. */
tsr_status tsr_map_check_size(uint64_t bytes, uint64_t max_bytes);
void tsr_map_close(tsr_map *map); /* a zeroed one is ignored */
/* Releases the pages that were read; the bytes stay valid. NULL is fine. */
void tsr_map_release(const tsr_map *map);

#endif
