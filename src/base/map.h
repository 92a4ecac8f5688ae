/* A file's bytes: memory-mapped, so that pages are read on first access and can be released without
 * being written, or, if it is one of the caller's tsr_files, in memory. */
#ifndef TSR_BASE_MAP_H
#define TSR_BASE_MAP_H

#include "base/progress.h"

typedef struct tsr_map {
    const void *bytes;
    size_t size;
    bool in_memory;   /* else mapped */
    uint64_t file[2]; /* device and number of a mapped file */
} tsr_map;

/* Maps a regular file that is neither empty nor larger than max_bytes, nor nearly all holes. It
 * must not be changed in place while it is mapped: accessing bytes that were cut off kills the
 * process. */
tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map);
/* The same of the file `location` in a folder ("": the current one), which it must not lead out of,
 * even if symbolic links are followed. */
tsr_status tsr_map_open_inside(const char *folder, const char *location, tsr_map *map);
/* Is this a relative path none of whose components is ".."? */
bool tsr_path_is_inside(const char *path);
/* Reads a file of the caller's with the same limits. Progress: a stage of its own. */
tsr_status tsr_map_read(const tsr_files *files, const char *path, uint64_t max_bytes,
                        const tsr_progress_meter *progress, tsr_map *map);
/* What all check before any byte is read. */
tsr_status tsr_map_check_size(uint64_t bytes, uint64_t max_bytes);
void tsr_map_close(tsr_map *map); /* a zeroed one is ignored */
/* Releases the pages that were read; the bytes stay valid. */
void tsr_map_release(const tsr_map *map);

/* A model's files, in which its constants may stay. */
typedef struct tsr_maps {
    tsr_map *list;
    int count, capacity;
} tsr_maps;

/* Takes the map over; false, and closes it, when out of memory. */
bool tsr_maps_add(tsr_maps *maps, tsr_map *map);
/* The map that this is a byte of, or NULL. maps may be NULL. */
const tsr_map *tsr_maps_find(const tsr_maps *maps, const void *byte);
void tsr_maps_release(const tsr_maps *maps); /* of each; NULL is fine */
void tsr_maps_close(tsr_maps *maps);

#endif
