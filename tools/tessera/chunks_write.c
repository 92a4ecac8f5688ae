#define _POSIX_C_SOURCE 200809L
#include "chunks.h"
#include "json.h"
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LEAST_STEP = 1024, MOST_CHUNKS = 10000, EXTENSION = 5 /* the length of .json */ };

tsr_status chunks_parse_size(const char *text, size_t *size) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    double factor = *end == 'K' ? 1024 : *end == 'M' ? 1048576 : *end == 'G' ? 1073741824 : 1;
    double bytes = (double)number * factor;
    end += factor > 1;
    if (text[0] < '0' || text[0] > '9' || *end || errno || bytes < LEAST_STEP ||
        bytes > CHUNKS_MOST_BYTES)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--chunk expects a size of 1K to less than 2G, as 4M, 512K or a number of "
                    "bytes, not '%s'",
                    text);
    *size = (size_t)bytes;
    return TSR_OK;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

tsr_status chunks_index_of(const char *output, const char *model, char **index) {
    struct stat place;
    bool is_folder = stat(output, &place) == 0 && S_ISDIR(place.st_mode);
    if (!is_folder && !chunks_are(output))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: chunks are written into a folder that exists, or beside an index, .json",
                    output);
    const char *name = is_folder ? name_of(model) : "", *more = chunks_are(name) ? "" : ".json";
    size_t room = strlen(output) + strlen(name) + EXTENSION + 2;
    *index = malloc(room);
    if (!*index)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", output);
    if (is_folder)
        snprintf(*index, room, "%s/%s%s", output, name, more);
    else
        snprintf(*index, room, "%s", output);
    return TSR_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct chunk_writer {
    const char *index, *model;
    cJSON *root, *chunks;
    char **paths;
    output_file *files; /* the chunks, then the index */
    size_t begun;
} chunk_writer;

static tsr_status out_of_memory(const chunk_writer *w) {
    return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", w->index);
}

static bool add_chunk(const chunk_writer *w, const char *path, const char *bytes, size_t size) {
    struct sha256_ctx sum;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[2 * SHA256_DIGEST_SIZE + 1];
    sha256_init(&sum);
    sha256_update(&sum, size, (const uint8_t *)bytes);
    sha256_digest(&sum, sizeof digest, digest);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    cJSON *chunk = cJSON_CreateObject();
    bool good = cJSON_AddStringToObject(chunk, "file", name_of(path)) &&
                cJSON_AddNumberToObject(chunk, "bytes", (double)size) &&
                cJSON_AddStringToObject(chunk, "sha256", text);
    if (!good || !cJSON_AddItemToArray(w->chunks, chunk))
        cJSON_Delete(chunk);
    return good;
}

/* A file beside its place: all get their names at the end. */
static tsr_status write_file(chunk_writer *w, const char *path, const char *bytes, size_t size) {
    output_file *out = &w->files[w->begun];
    TRY(output_begin(path, out));
    w->begun++;
    fwrite(bytes, 1, size, out->file);
    return output_close(out, TSR_OK);
}

static tsr_status write_chunk(chunk_writer *w, size_t number, const char *bytes, size_t size) {
    size_t stem = strlen(w->index) - EXTENSION, room = stem + 24;
    char *path = w->paths[number] = malloc(room);
    if (!path)
        return out_of_memory(w);
    snprintf(path, room, "%.*s.%zu", (int)stem, w->index, number);
    if (output_is_same(path, w->model))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is the model itself; name another index",
                    path);
    if (!add_chunk(w, path, bytes, size))
        return out_of_memory(w);
    return write_file(w, path, bytes, size);
}

static tsr_status write_index(chunk_writer *w) {
    char *text = cJSON_Print(w->root);
    tsr_status status = text ? write_file(w, w->index, text, strlen(text)) : out_of_memory(w);
    cJSON_free(text);
    return status;
}

static tsr_status write_all(chunk_writer *w, const char *bytes, size_t size, size_t step) {
    w->root = cJSON_CreateObject();
    if (!w->paths || !w->files || !cJSON_AddStringToObject(w->root, "format", CHUNKS_FORMAT) ||
        !cJSON_AddNumberToObject(w->root, "bytes", (double)size) ||
        !(w->chunks = cJSON_AddArrayToObject(w->root, "chunks")))
        return out_of_memory(w);
    for (size_t at = 0, i = 0; at < size; at += step, i++)
        TRY(write_chunk(w, i, bytes + at, size - at < step ? size - at : step));
    return write_index(w);
}

tsr_status chunks_write(const char *index, const char *model, const char *bytes, size_t size,
                        size_t step) {
    size_t count = (size + step - 1) / step;
    if (count > MOST_CHUNKS)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: %zu chunks of %zu bytes, more than %d: give a larger --chunk", index,
                    count, step, MOST_CHUNKS);
    chunk_writer w = {.index = index,
                      .model = model,
                      .paths = calloc(count + 1, sizeof *w.paths),
                      .files = calloc(count + 1, sizeof *w.files)};
    tsr_status status = write_all(&w, bytes, size, step);
    for (size_t i = 0; i < w.begun; i++)
        status = output_end(&w.files[i], status);
    for (size_t i = 0; w.paths && i < count; i++)
        free(w.paths[i]);
    free(w.paths);
    free(w.files);
    cJSON_Delete(w.root);
    return status;
}
