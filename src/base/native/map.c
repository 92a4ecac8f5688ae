#define _GNU_SOURCE /* SEEK_DATA; madvise, realpath */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/map.h"

#include "base/allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are stored, which of a sparse file are fewer than its size. A file system that cannot
 * tell has all of them. */
static uint64_t stored_bytes(int file, uint64_t size) {
    uint64_t stored = size;
#ifdef SEEK_DATA
    enum { MAX_EXTENTS = 4096 }; /* what is not looked at counts as stored */
    off_t hole = 0;
    for (int i = 0; i < MAX_EXTENTS && (uint64_t)hole < size; i++) {
        off_t data = lseek(file, hole, SEEK_DATA);
        if (data < 0 && errno != ENXIO) /* ENXIO: a hole up to the end */
            break;
        data = data < 0 ? (off_t)size : data;
        stored -= (uint64_t)(data - hole);
        hole = (uint64_t)data < size ? lseek(file, data, SEEK_HOLE) : data;
        if (hole < 0)
            break;
    }
#else
    (void)file;
#endif
    return stored;
}

/* Holes are filled with zeros when they are read: a tiny file could take all memory. */
static tsr_status check_holes(int file, uint64_t size) {
    enum { FREE_BYTES = 64 << 20, MOST = 16 };
    uint64_t stored = size > FREE_BYTES ? stored_bytes(file, size) : size;
    if (stored >= size / MOST)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "of the file's %llu bytes only %llu are stored",
                    (unsigned long long)size, (unsigned long long)stored);
}

/* Rejects what cannot be a model before any byte is read. */
static tsr_status check_file(int file, uint64_t max_bytes, tsr_map *map) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return tsr_fail(TSR_ERROR_IO, "%s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return tsr_fail(TSR_ERROR_IO, "this is %s, not a file",
                        S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
    *map = (tsr_map){.size = (size_t)info.st_size,
                     .file = {(uint64_t)info.st_dev, (uint64_t)info.st_ino}};
    TSR_TRY(tsr_map_check_size((uint64_t)info.st_size, max_bytes));
    return check_holes(file, (uint64_t)info.st_size);
}

static tsr_status map_file(int file, uint64_t max_bytes, tsr_map *map) {
    TSR_TRY(check_file(file, max_bytes, map));
    void *bytes = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return tsr_fail(errno == ENOMEM ? TSR_ERROR_OUT_OF_MEMORY : TSR_ERROR_IO, "%s",
                        strerror(errno));
    map->bytes = bytes;
    return TSR_OK;
}

static tsr_status open_path(const char *path, int flags, uint64_t max_bytes, tsr_map *map) {
    *map = (tsr_map){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags); /* a pipe must not block */
    if (file < 0)
        return tsr_fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
    tsr_status status = map_file(file, max_bytes, map);
    close(file);
    if (status != TSR_OK)
        *map = (tsr_map){0};
    return tsr_fail_context(status, "%s", path);
}

tsr_status tsr_map_open(const char *path, uint64_t max_bytes, tsr_map *map) {
    return open_path(path, 0, max_bytes, map);
}

/* The real path of the file. */
static tsr_status resolve(const char *folder, const char *location, char path[PATH_MAX]) {
    char joined[PATH_MAX], real[PATH_MAX];
    folder = *folder ? folder : ".";
    errno = ENAMETOOLONG;
    bool fits = snprintf(joined, sizeof joined, "%s/%s", folder, location) < (int)sizeof joined;
    if (!fits || !realpath(folder, real) || !realpath(joined, path))
        return tsr_fail(TSR_ERROR_IO, "%s/%s: %s", folder, location, strerror(errno));
    size_t length = strlen(real);
    if (strncmp(path, real, length) == 0 && (path[length] == '/' || real[length - 1] == '/'))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "\"%s\" leads out of the model's folder", location);
}

tsr_status tsr_map_open_inside(const char *folder, const char *location, tsr_map *map) {
    char path[PATH_MAX];
    *map = (tsr_map){0};
    TSR_TRY(resolve(folder, location, path));
    return open_path(path, O_NOFOLLOW, UINT64_MAX, map);
}

void tsr_map_close(tsr_map *map) {
    if (map->in_memory)
        tsr_free((void *)map->bytes);
    else if (map->bytes)
        munmap((void *)map->bytes, map->size);
    *map = (tsr_map){0};
}

void tsr_map_release(const tsr_map *map) {
    if (map->bytes && !map->in_memory)
        madvise((void *)map->bytes, map->size, MADV_DONTNEED);
}
