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

static tsr_status check_range(const char *location, uint64_t file_size, uint64_t offset,
                              uint64_t size) {
    if (offset <= file_size && size <= file_size - offset)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL,
                    "external data: %llu bytes at %llu are not in the %llu bytes of \"%s\"",
                    (unsigned long long)size, (unsigned long long)offset,
                    (unsigned long long)file_size, location);
}

static tsr_status open_of_system(const tsr_reader *reader, const char *location, uint64_t size,
                                 tsr_onnx_external *e) {
    uint64_t file_size = 0;
    char path[PATH_MAX];
    e->path = location;
    TSR_TRY(resolve(reader->dir, location, path));
    TSR_TRY(open_regular(path, &e->file, &file_size));
    tsr_status status = check_range(location, file_size, e->at, size);
    if (status == TSR_OK && fseeko(e->file, (off_t)e->at, SEEK_SET) != 0)
        status = tsr_fail(TSR_ERROR_IO, "external data: %s: %s", location, strerror(errno));
    if (status != TSR_OK)
        tsr_onnx_external_close(e);
    return status;
}

static tsr_status open_of_caller(const tsr_reader *reader, const char *location, uint64_t size,
                                 tsr_onnx_external *e) {
    uint64_t file_size = 0;
    const char *dir = strcmp(reader->dir, ".") ? reader->dir : "", *end = strchr(dir, 0);
    const char *slash = end > dir && end[-1] != '/' ? "/" : "";
    e->path = tsr_arena_printf(reader->graph->arena, "%s%s%s", dir, slash, location);
    if (!e->path)
        return tsr_onnx_out_of_memory();
    tsr_status status = reader->files->size(reader->files->user, e->path, &file_size);
    TSR_TRY(tsr_fail_context(status, "external data: %s", e->path));
    e->files = reader->files;
    return check_range(location, file_size, e->at, size);
}

tsr_status tsr_onnx_external_open(tsr_reader *reader, const Tsr__TensorProto *tensor, uint64_t size,
                                  tsr_onnx_external *e) {
    const char *location = entry(tensor, "location");
    if (!location)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "external data has no location");
    if (!reader->dir)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "external data \"%s\" cannot be read: no folder is known", location);
    uint64_t length;
    TSR_TRY(number_entry(tensor, "offset", 0, &e->at));
    TSR_TRY(number_entry(tensor, "length", size, &length));
    if (length != size)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "external data: length %llu instead of %llu",
                        (unsigned long long)length, (unsigned long long)size);
    if (size > reader->external_budget)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                        "external data exceeds the limit on the model's size");
    if (!stays_inside(location))
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "external data: \"%s\" is no path inside the model's folder", location);
    TSR_TRY(reader->files && reader->files->read ? open_of_caller(reader, location, size, e)
                                                 : open_of_system(reader, location, size, e));
    reader->external_budget -= size;
    return TSR_OK;
}

tsr_status tsr_onnx_external_read(tsr_onnx_external *e, void *bytes, size_t size) {
    tsr_status status = TSR_OK;
    if (e->files)
        status = e->files->read(e->files->user, e->path, e->at, bytes, size);
    else if (fread(bytes, 1, size, e->file) != size)
        status = tsr_fail(TSR_ERROR_IO, "it cannot be read");
    e->at += size;
    return tsr_fail_context(status, "external data: %s", e->path);
}

void tsr_onnx_external_close(tsr_onnx_external *e) {
    if (e->file)
        fclose(e->file);
    e->file = NULL;
}
