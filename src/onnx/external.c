#include "onnx/reader.h"

#include <string.h>

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
    e->path = location;
    tsr_status status = tsr_file_open(reader->dir, location, &e->file, &file_size);
    TSR_TRY(tsr_fail_context(status, "external data"));
    status = check_range(location, file_size, e->at, size);
    if (status == TSR_OK)
        status = tsr_fail_context(tsr_file_seek(&e->file, e->at), "external data: %s", location);
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
    else if (!tsr_file_read(&e->file, bytes, size))
        status = tsr_fail(TSR_ERROR_IO, "it cannot be read");
    e->at += size;
    return tsr_fail_context(status, "external data: %s", e->path);
}

void tsr_onnx_external_close(tsr_onnx_external *e) {
    tsr_file_close(&e->file);
}
