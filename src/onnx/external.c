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
    return good ? TSR_OK : tsr_fail(TSR_ERROR_INVALID_MODEL, "\"%s\" is no %s", text, key);
}

/* ---- files ---- */

/* What is copied out of files may be as many bytes as these have, and this: no file is read again
 * and again. */
enum { FREE_BYTES = 64 << 20 };

static tsr_status add_file(tsr_reader *reader, tsr_onnx_file added, tsr_onnx_file **file) {
    *file = TSR_NEW(reader->graph->arena, 1, tsr_onnx_file);
    if (!*file)
        return tsr_onnx_out_of_memory();
    reader->copying_budget += reader->files_read ? added.size : added.size + FREE_BYTES;
    added.next = reader->files_read;
    **file = added;
    reader->files_read = *file;
    return TSR_OK;
}

/* The same file under another name. */
static tsr_onnx_file *find_same(const tsr_reader *reader, const tsr_map *map) {
    for (tsr_onnx_file *f = reader->files_read; f; f = f->next)
        if (!memcmp(reader->maps->list[f->map].file, map->file, sizeof map->file))
            return f;
    return NULL;
}

static tsr_status open_of_system(tsr_reader *reader, const char *location, tsr_onnx_file **file) {
    tsr_map map;
    TSR_TRY(tsr_map_open_inside(reader->dir, location, &map));
    *file = find_same(reader, &map);
    if (*file) {
        tsr_map_close(&map);
        return TSR_OK;
    }
    const tsr_onnx_file added = {
        .location = location, .size = map.size, .map = reader->maps->count};
    return tsr_maps_add(reader->maps, &map) ? add_file(reader, added, file)
                                            : tsr_onnx_out_of_memory();
}

static tsr_status open_of_caller(tsr_reader *reader, const char *location, tsr_onnx_file **file) {
    const char *dir = strcmp(reader->dir, ".") ? reader->dir : "", *end = strchr(dir, 0);
    const char *slash = end > dir && end[-1] != '/' ? "/" : "";
    tsr_onnx_file added = {.location = location, .map = TSR_NONE};
    added.path = tsr_arena_printf(reader->graph->arena, "%s%s%s", dir, slash, location);
    if (!added.path)
        return tsr_onnx_out_of_memory();
    tsr_status status = reader->files->size(reader->files->user, added.path, &added.size);
    TSR_TRY(tsr_fail_context(status, "%s", added.path));
    return add_file(reader, added, file);
}

static tsr_status find_file(tsr_reader *reader, const char *location, tsr_onnx_file **file) {
    for (*file = reader->files_read; *file; *file = (*file)->next)
        if (!strcmp((*file)->location, location))
            return TSR_OK;
    if (!tsr_path_is_inside(location))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "\"%s\" is no path inside the model's folder",
                        location);
    return reader->files && reader->files->read ? open_of_caller(reader, location, file)
                                                : open_of_system(reader, location, file);
}

/* ---- tensors ---- */

static tsr_status check_range(const tsr_reader *reader, const tsr_onnx_file *file, uint64_t offset,
                              uint64_t size) {
    if (offset <= file->size && size <= file->size - offset)
        return TSR_OK;
    if (file->map != TSR_NONE &&
        tsr_onnx_is_lfs_pointer(reader->maps->list[file->map].bytes, file->size))
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "\"%s\" is a pointer of Git LFS, not the file: fetch it with git lfs pull",
                        file->location);
    return tsr_fail(TSR_ERROR_INVALID_MODEL,
                    "%llu bytes at %llu are not in the %llu bytes of \"%s\"",
                    (unsigned long long)size, (unsigned long long)offset,
                    (unsigned long long)file->size, file->location);
}

/* A file's bytes count once against the limit, however many tensors have them. */
static tsr_status count_bytes(tsr_reader *reader, tsr_onnx_file *file, uint64_t size) {
    uint64_t uncounted = file->size - file->counted, more = size < uncounted ? size : uncounted;
    if (more > reader->external_budget)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                        "with \"%s\" the model has more than max_bytes, %llu", file->location,
                        (unsigned long long)reader->graph->max_bytes);
    file->counted += more;
    reader->external_budget -= more;
    return TSR_OK;
}

static tsr_status find_bytes(tsr_reader *reader, const Tsr__TensorProto *tensor, uint64_t size,
                             tsr_onnx_external *e) {
    const char *location = entry(tensor, "location");
    uint64_t length;
    tsr_onnx_file *file;
    if (!location)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it has no location");
    if (!reader->dir)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "\"%s\" cannot be read: no folder is known",
                        location);
    TSR_TRY(number_entry(tensor, "offset", 0, &e->at));
    TSR_TRY(number_entry(tensor, "length", size, &length));
    if (length != size)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "length %llu instead of %llu",
                        (unsigned long long)length, (unsigned long long)size);
    TSR_TRY(find_file(reader, location, &file));
    TSR_TRY(check_range(reader, file, e->at, size));
    TSR_TRY(count_bytes(reader, file, size));
    e->file = file;
    if (file->map != TSR_NONE)
        e->bytes = (const unsigned char *)reader->maps->list[file->map].bytes + e->at;
    return TSR_OK;
}

tsr_status tsr_onnx_external_find(tsr_reader *reader, const Tsr__TensorProto *tensor, uint64_t size,
                                  tsr_onnx_external *e) {
    return tsr_fail_context(find_bytes(reader, tensor, size, e), "external data");
}

tsr_status tsr_onnx_external_count_copy(tsr_reader *reader, const tsr_onnx_external *e,
                                        uint64_t size) {
    if (size > reader->copying_budget)
        return tsr_fail(TSR_ERROR_INVALID_MODEL,
                        "external data: tensors read \"%s\" again and again: %llu bytes more than "
                        "the files have",
                        e->file->location, (unsigned long long)FREE_BYTES);
    reader->copying_budget -= size;
    return TSR_OK;
}

tsr_status tsr_onnx_external_read(const tsr_reader *reader, tsr_onnx_external *e, void *bytes,
                                  size_t size) {
    const tsr_files *files = reader->files;
    tsr_status status = files->read(files->user, e->file->path, e->at, bytes, size);
    e->at += size;
    return tsr_fail_context(status, "external data: %s", e->file->path);
}
