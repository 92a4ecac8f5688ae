#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "onnx/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *entry(const Tsr__TensorProto *tensor, const char *key) {
    for (size_t i = 0; i < tensor->n_external_data; i++) {
        const Tsr__StringStringEntryProto *pair = tensor->external_data[i];
        if (pair->key && strcmp(pair->key, key) == 0)
            return pair->value ? pair->value : "";
    }
    return NULL;
}

static tsr_status number_entry(const Tsr__TensorProto *tensor, const char *key,
                               uint64_t default_value, uint64_t *number) {
    const char *text = entry(tensor, key);
    *number = default_value;
    if (!text)
        return TSR_OK;
    uint64_t n = 0;
    bool good = *text != 0;
    for (const char *c = text; *c && good; c++) {
        good = *c >= '0' && *c <= '9' && n <= (INT64_MAX - 9) / 10;
        n = n * 10 + (uint64_t)(*c - '0');
    }
    *number = n;
    return good ? TSR_OK
                : tsr_fail(TSR_ERROR_INVALID_MODEL, "external data: \"%s\" is no %s", text, key);
}

/* A relative path none of whose components is "..". */
static bool stays_inside(const char *path) {
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

/* The real path of the file, which must be inside the model's folder even if symbolic links are
 * followed. */
static tsr_status resolve(const char *dir, const char *location, char path[PATH_MAX]) {
    char joined[PATH_MAX], folder[PATH_MAX];
    if (!stays_inside(location))
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "external data: \"%s\" is no path inside the model's folder", location);
    dir = *dir ? dir : ".";
    errno = ENAMETOOLONG;
    bool fits = snprintf(joined, sizeof joined, "%s/%s", dir, location) < (int)sizeof joined;
    if (!fits || !realpath(dir, folder) || !realpath(joined, path))
        return tsr_fail(TSR_ERROR_IO, "external data: %s/%s: %s", dir, location, strerror(errno));
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/'))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL,
                    "external data: \"%s\" leads out of the model's folder", location);
}

static tsr_status open_regular(const char *path, FILE **file, uint64_t *size) {
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    if (descriptor < 0 || fstat(descriptor, &info) != 0 ||
        !(*file = S_ISREG(info.st_mode) ? fdopen(descriptor, "rb") : NULL)) {
        const char *reason = descriptor < 0 ? strerror(errno) : "no regular file";
        if (descriptor >= 0)
            close(descriptor);
        return tsr_fail(TSR_ERROR_IO, "external data: %s: %s", path, reason);
    }
    *size = (uint64_t)info.st_size;
    return TSR_OK;
}

static tsr_status seek_checked(FILE *file, const char *location, uint64_t file_size,
                               uint64_t offset, uint64_t size) {
    if (offset > file_size || size > file_size - offset)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "external data: %llu bytes at %llu are not in the %llu bytes of \"%s\"",
                        (unsigned long long)size, (unsigned long long)offset,
                        (unsigned long long)file_size, location);
    if (fseeko(file, (off_t)offset, SEEK_SET) != 0)
        return tsr_fail(TSR_ERROR_IO, "external data: %s: %s", location, strerror(errno));
    return TSR_OK;
}

tsr_status tsr_onnx_open_external(tsr_reader *reader, const Tsr__TensorProto *tensor, uint64_t size,
                                  FILE **file) {
    const char *location = entry(tensor, "location");
    if (!location)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "external data has no location");
    if (!reader->dir)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "external data \"%s\" cannot be read: no folder is known", location);
    uint64_t offset, length, file_size = 0;
    TSR_TRY(number_entry(tensor, "offset", 0, &offset));
    TSR_TRY(number_entry(tensor, "length", size, &length));
    if (length != size)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "external data: length %llu instead of %llu",
                        (unsigned long long)length, (unsigned long long)size);
    if (size > reader->external_budget)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                        "external data exceeds the limit on the model's size");
    char path[PATH_MAX];
    TSR_TRY(resolve(reader->dir, location, path));
    TSR_TRY(open_regular(path, file, &file_size));
    tsr_status status = seek_checked(*file, location, file_size, offset, size);
    if (status != TSR_OK) {
        fclose(*file);
        *file = NULL;
        return status;
    }
    reader->external_budget -= size;
    return TSR_OK;
}
