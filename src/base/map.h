/* A memory-mapped file: pages are read on first access and can be released without being
 * written. */
#ifndef TSR_BASE_MAP_H
#define TSR_BASE_MAP_H

#include "base/error.h"

typedef struct tsr_map {
    const void *bytes;
    size_t size;
} tsr_map;

/* Maps a regular file that is neither empty nor larger than max_bytes. It must not be changed in
 * place while it is mapped: accessing bytes that were cut off kills the process. */
tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map);
void tsr_map_close(tsr_map *map); /* a zeroed one is ignored */
/* Releases the pages that were read; the bytes stay valid. NULL is fine. */
void tsr_map_release(const tsr_map *map);

#endif
