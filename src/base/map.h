/* A file's bytes as memory: read when they are touched, and given back without being written. */
#ifndef TSR_BASE_MAP_H
#define TSR_BASE_MAP_H

#include "base/error.h"

typedef struct tsr_map {
    const void *bytes;
    size_t size;
} tsr_map;

/* Maps a regular file that is neither empty nor larger than max_bytes. It must not be changed in
 * place while it is mapped: touching bytes that are cut off ends the process. */
tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map);
void tsr_map_close(tsr_map *map); /* zeroed: nothing to do */
/* Gives the memory back that was taken by touching the bytes; they stay valid. NULL is fine. */
void tsr_map_release(const tsr_map *map);

#endif
