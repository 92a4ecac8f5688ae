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

/* Rejects what cannot be a model before any byte is read. */
static tsr_status check_file(int file, uint64_t max_bytes, size_t *size) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return tsr_fail(TSR_ERROR_IO, "%s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return tsr_fail(TSR_ERROR_IO, "this is %s, not a file",
                        S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
    *size = (size_t)info.st_size;
    return tsr_map_check_size((uint64_t)info.st_size, max_bytes);
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
