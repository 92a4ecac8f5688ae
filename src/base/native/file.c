#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The real path of the file, which must be inside the model's folder even if symbolic links are
 * followed. */
static tsr_status resolve(const char *dir, const char *location, char path[PATH_MAX]) {
    char joined[PATH_MAX], folder[PATH_MAX];
    dir = *dir ? dir : ".";
    errno = ENAMETOOLONG;
    bool fits = snprintf(joined, sizeof joined, "%s/%s", dir, location) < (int)sizeof joined;
    if (!fits || !realpath(dir, folder) || !realpath(joined, path))
        return tsr_fail(TSR_ERROR_IO, "%s/%s: %s", dir, location, strerror(errno));
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/'))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "\"%s\" leads out of the model's folder", location);
}

static tsr_status open_regular(const char *path, tsr_file *file, uint64_t *size) {
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    if (descriptor < 0 || fstat(descriptor, &info) != 0 ||
        !(file->stream = S_ISREG(info.st_mode) ? fdopen(descriptor, "rb") : NULL)) {
        const char *reason = descriptor < 0 ? strerror(errno) : "no regular file";
        if (descriptor >= 0)
            close(descriptor);
        return tsr_fail(TSR_ERROR_IO, "%s: %s", path, reason);
    }
    *size = (uint64_t)info.st_size;
    return TSR_OK;
}

tsr_status tsr_file_open(const char *folder, const char *location, tsr_file *file, uint64_t *size) {
    char path[PATH_MAX];
    TSR_TRY(resolve(folder, location, path));
    return open_regular(path, file, size);
}

tsr_status tsr_file_seek(const tsr_file *file, uint64_t at) {
    return fseeko(file->stream, (off_t)at, SEEK_SET) == 0
               ? TSR_OK
               : tsr_fail(TSR_ERROR_IO, "%s", strerror(errno));
}

bool tsr_file_read(const tsr_file *file, void *bytes, size_t size) {
    return fread(bytes, 1, size, file->stream) == size;
}

void tsr_file_close(tsr_file *file) {
    if (file->stream)
        fclose(file->stream);
    file->stream = NULL;
}
