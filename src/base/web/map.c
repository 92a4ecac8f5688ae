/* WebAssembly has no files: the caller has the bytes. */
#include "base/map.h"

#include "base/allocator.h"

static tsr_status refuse(const char *path, tsr_map *map) {
    *map = (tsr_map){0};
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "%s: WebAssembly has no files: load the model from memory, or set "
                    "tsr_model_desc.files",
                    path);
}

tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map) {
    (void)max_bytes;
    return refuse(path, map);
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
