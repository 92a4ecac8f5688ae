#include "base/map.h"

#include "base/allocator.h"

tsr_status tsr_map_check_size(uint64_t bytes, uint64_t max_bytes) {
    if (bytes == 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the file is empty");
    if (bytes > max_bytes || bytes > SIZE_MAX)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "the file has %llu bytes, the limit is %llu",
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
