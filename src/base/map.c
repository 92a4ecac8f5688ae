#include "base/map.h"

#include "base/allocator.h"

#include <string.h>

bool tsr_path_is_inside(const char *path) {
    if (!*path || *path == '/')
        return false;
    for (const char *part = path; part;) {
        const char *slash = strchr(part, '/');
        size_t length = slash ? (size_t)(slash - part) : strlen(part);
        if (length == 2 && memcmp(part, "..", 2) == 0)
            return false;
        part = slash ? slash + 1 : NULL;
    }
    return true;
}

tsr_status tsr_map_check_size(uint64_t bytes, uint64_t max_bytes) {
    if (bytes == 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the file is empty");
    if (bytes > max_bytes || bytes > SIZE_MAX)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "the file has %llu bytes, max_bytes is %llu",
                        (unsigned long long)bytes, (unsigned long long)max_bytes);
    return TSR_OK;
}

/* In pieces, between which the caller hears of the progress. */
static tsr_status read_file(const tsr_files *files, const char *path, size_t size,
                            const tsr_progress_meter *progress, char *bytes) {
    enum { PIECE = 4 << 20 };
    for (size_t done = 0; done < size;) {
        size_t count = size - done < PIECE ? size - done : PIECE;
        TSR_TRY(tsr_progress_report(progress, "reading weights", (int64_t)done, (int64_t)size));
        TSR_TRY(files->read(files->user, path, done, bytes + done, count));
        done += count;
    }
    return TSR_OK;
}

tsr_status tsr_map_read(const tsr_files *files, const char *path, uint64_t max_bytes,
                        const tsr_progress_meter *progress, tsr_map *map) {
    uint64_t size = 0;
    *map = (tsr_map){0};
    tsr_status status = files->size(files->user, path, &size);
    if (status == TSR_OK)
        status = tsr_map_check_size(size, max_bytes);
    char *bytes = status == TSR_OK ? tsr_malloc((size_t)size) : NULL;
    if (status == TSR_OK)
        status = bytes ? read_file(files, path, (size_t)size, progress, bytes)
                       : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for its %llu bytes",
                                  (unsigned long long)size);
    if (status == TSR_OK)
        *map = (tsr_map){.bytes = bytes, .size = (size_t)size, .in_memory = true};
    else
        tsr_free(bytes);
    return tsr_fail_context(status, "%s", path);
}

bool tsr_maps_add(tsr_maps *maps, tsr_map *map) {
    if (maps->count == maps->capacity) {
        int capacity = maps->capacity ? 2 * maps->capacity : 4;
        tsr_map *list = tsr_realloc(maps->list, (size_t)capacity * sizeof *list);
        if (!list) {
            tsr_map_close(map);
            return false;
        }
        maps->list = list;
        maps->capacity = capacity;
    }
    maps->list[maps->count++] = *map;
    return true;
}

const tsr_map *tsr_maps_find(const tsr_maps *maps, const void *byte) {
    for (int i = 0; maps && byte && i < maps->count; i++) {
        uintptr_t first = (uintptr_t)maps->list[i].bytes;
        if ((uintptr_t)byte >= first && (uintptr_t)byte - first < maps->list[i].size)
            return &maps->list[i];
    }
    return NULL;
}

void tsr_maps_release(const tsr_maps *maps) {
    for (int i = 0; maps && i < maps->count; i++)
        tsr_map_release(&maps->list[i]);
}

void tsr_maps_close(tsr_maps *maps) {
    for (int i = 0; i < maps->count; i++)
        tsr_map_close(&maps->list[i]);
    tsr_free(maps->list);
    *maps = (tsr_maps){0};
}
