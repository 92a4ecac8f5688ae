#define _DEFAULT_SOURCE /* madvise */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/map.h"

#include "base/allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static tsr_status check_size(uint64_t bytes, uint64_t max_bytes) {
    if (bytes == 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the file is empty");
    if (bytes > max_bytes || bytes > SIZE_MAX)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "the file has %llu bytes, the limit is %llu",
                        (unsigned long long)bytes, (unsigned long long)max_bytes);
    return TSR_OK;
}

/* Rejects what cannot be a model before any byte is read. */
static tsr_status check_file(int file, uint64_t max_bytes, size_t *size) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return tsr_fail(TSR_ERROR_IO, "%s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return tsr_fail(TSR_ERROR_IO, "this is %s, not a file",
                        S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
    *size = (size_t)info.st_size;
    return check_size((uint64_t)info.st_size, max_bytes);
}

static tsr_status map_file(int file, uint64_t max_bytes, tsr_map *map) {
    size_t size = 0;
    TSR_TRY(check_file(file, max_bytes, &size));
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return tsr_fail(errno == ENOMEM ? TSR_ERROR_OUT_OF_MEMORY : TSR_ERROR_IO, "%s",
                        strerror(errno));
    *map = (tsr_map){.bytes = bytes, .size = size};
    return TSR_OK;
}

tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map) {
    *map = (tsr_map){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
    if (file < 0)
        return tsr_fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
    tsr_status status = map_file(file, max_bytes, map);
    close(file);
    return tsr_fail_context(status, "%s", path);
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
        status = check_size(size, max_bytes);
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

void tsr_map_close(tsr_map *map) {
    if (map->in_memory)
        tsr_free((void *)map->bytes);
    else if (map->bytes)
        munmap((void *)map->bytes, map->size);
    *map = (tsr_map){0};
}

void tsr_map_release(const tsr_map *map) {
    if (map && map->bytes && !map->in_memory)
        madvise((void *)map->bytes, map->size, MADV_DONTNEED);
}
