/* WebAssembly has no files: the page puts the one that is opened next into memory. */
#include "base/web/map.h"

#include "base/allocator.h"

static tsr_map given;

void tsr_map_give(void *bytes, size_t size) {
    tsr_map_close(&given);
    given = (tsr_map){.bytes = bytes, .size = size, .in_memory = true};
}

static tsr_status refuse(const char *path, tsr_map *map) {
    *map = (tsr_map){0};
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "%s: WebAssembly has no files", path);
}

tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map) {
    if (!given.bytes)
        return refuse(path, map);
    *map = given;
    given = (tsr_map){0};
    tsr_status status = tsr_map_check_size(map->size, max_bytes);
    if (status != TSR_OK)
        tsr_map_close(map);
    return tsr_fail_context(status, "%s", path);
}

tsr_status tsr_map_open_inside(const char *folder, const char *location, tsr_map *map) {
    (void)folder;
    return refuse(location, map);
}

void tsr_map_close(tsr_map *map) {
    tsr_free((void *)map->bytes);
    *map = (tsr_map){0};
}

void tsr_map_release(const tsr_map *map) {
    (void)map;
}
