#include "chunks.h"
#include "base/map.h"
#include "json.h"
#include "tensor.h"
#include "tool.h"

#include <math.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

bool chunks_are(const char *path) {
    return file_is(path, ".json");
}

/* ---- the index ------------------------------------------------------------------------------- */

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *file_of(const cJSON *chunk) {
    return member(chunk, "file")->valuestring;
}

static bool is_size(const cJSON *json) {
    return cJSON_IsNumber(json) && json->valuedouble >= 1 &&
           json->valuedouble <= CHUNKS_MOST_BYTES && floor(json->valuedouble) == json->valuedouble;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_sum(const cJSON *json, uint8_t sum[SHA256_DIGEST_SIZE]) {
    if (!cJSON_IsString(json) || strlen(json->valuestring) != 2 * SHA256_DIGEST_SIZE)
        return false;
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++) {
        int high = hex_digit(json->valuestring[2 * i]),
            low = hex_digit(json->valuestring[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        sum[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

static tsr_status refuse(const char *path, const char *why) {
    return fail(TSR_ERROR_INVALID_MODEL, "%s: no index of a model's chunks: %s", path, why);
}

static tsr_status check_index(const char *path, const cJSON *root) {
    const cJSON *format = member(root, "format"), *bytes = member(root, "bytes"),
                *chunks = member(root, "chunks"), *chunk;
    uint8_t sum[SHA256_DIGEST_SIZE];
    double total = 0;
    if (!cJSON_IsString(format) || strcmp(format->valuestring, CHUNKS_FORMAT) != 0)
        return refuse(path, "its format is not '" CHUNKS_FORMAT "'");
    if (!is_size(bytes) || !cJSON_IsArray(chunks))
        return refuse(path, "it has no size of 1 to 2147483647 bytes or no list of chunks");
    cJSON_ArrayForEach(chunk, chunks) {
        if (!cJSON_IsString(member(chunk, "file")) || !is_size(member(chunk, "bytes")) ||
            !read_sum(member(chunk, "sha256"), sum))
            return refuse(path, "a chunk has no file, no size or no SHA-256 sum");
        if (!tsr_path_is_inside(file_of(chunk)))
            return refuse(path, "a chunk's file is no path inside its folder");
        total += member(chunk, "bytes")->valuedouble;
    }
    return total == bytes->valuedouble ? TSR_OK
                                       : refuse(path, "the chunks' sizes do not add up to its own");
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Chunks are read one after the other. */
typedef struct chunk_reader {
    const char *path;   /* of the index */
    char *folder;       /* "": the current one */
    const cJSON *chunk; /* whose bytes are next */
    tsr_map map;        /* of that chunk, once its first byte was read */
    size_t used;        /* bytes of it */
    struct sha256_ctx sum;
    const cJSON *root;
} chunk_reader;

static tsr_status open_chunk(const chunk_reader *r, const cJSON *chunk, tsr_map *map) {
    const size_t bytes = (size_t)member(chunk, "bytes")->valuedouble;
    tsr_status status = tsr_map_open_inside(r->folder, file_of(chunk), map);
    if (status == TSR_OK && map->size != bytes) {
        status = tsr_fail(TSR_ERROR_INVALID_MODEL,
                          "it has %zu bytes, not the %zu of the index: it is cut or another file",
                          map->size, bytes);
        tsr_map_close(map);
    }
    return tsr_fail_context(status, "chunk '%s'", file_of(chunk));
}

static tsr_status check_sum(chunk_reader *r) {
    uint8_t wanted[SHA256_DIGEST_SIZE], found[SHA256_DIGEST_SIZE];
    sha256_digest(&r->sum, sizeof found, found);
    if (read_sum(member(r->chunk, "sha256"), wanted) && memcmp(wanted, found, sizeof found) == 0)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_MODEL,
                    "chunk '%s': its SHA-256 sum is not that of the index: it is altered",
                    file_of(r->chunk));
}

/* For tsr_files: before memory is allocated all chunks are there, with the index's sizes. */
static tsr_status size_of_chunks(void *user, const char *path, uint64_t *bytes) {
    const chunk_reader *r = user;
    const cJSON *chunk;
    if (strcmp(path, r->path) != 0)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a model in chunks cannot have external data");
    cJSON_ArrayForEach(chunk, member(r->root, "chunks")) {
        tsr_map map;
        TSR_TRY(open_chunk(r, chunk, &map));
        tsr_map_close(&map);
    }
    *bytes = (uint64_t)member(r->root, "bytes")->valuedouble;
    return TSR_OK;
}

/* What is copied is what is hashed. */
static tsr_status read_chunks(void *user, const char *path, uint64_t offset, void *buffer,
                              size_t size) {
    chunk_reader *r = user;
    (void)path, (void)offset;
    for (char *to = buffer; size;) {
        if (!r->map.bytes) {
            TSR_TRY(open_chunk(r, r->chunk, &r->map));
            sha256_init(&r->sum);
            r->used = 0;
        }
        size_t left = r->map.size - r->used, count = size < left ? size : left;
        memcpy(to, (const char *)r->map.bytes + r->used, count);
        sha256_update(&r->sum, count, (const uint8_t *)to);
        to += count;
        size -= count;
        r->used += count;
        if (r->used < r->map.size)
            continue;
        TSR_TRY(check_sum(r));
        tsr_map_close(&r->map);
        r->map = (tsr_map){0};
        r->chunk = r->chunk->next;
    }
    return TSR_OK;
}

static tsr_status load_checked(const char *path, const cJSON *root, const tsr_model_desc *desc,
                               tsr_model **model, uint64_t *bytes) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    chunk_reader r = {.path = path,
                      .root = root,
                      .chunk = member(root, "chunks")->child,
                      .folder = calloc(length + 1, 1)};
    if (!r.folder)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    memcpy(r.folder, path, length);
    tsr_model_desc own = *desc;
    own.files = (tsr_files){&r, size_of_chunks, read_chunks};
    tsr_status status = fail_library(tsr_model_load(path, &own, model));
    *bytes = (uint64_t)member(root, "bytes")->valuedouble;
    tsr_map_close(&r.map);
    free(r.folder);
    return status;
}

tsr_status chunks_load(const char *path, const tsr_model_desc *desc, tsr_model **model,
                       uint64_t *bytes) {
    cJSON *root;
    *model = NULL;
    TRY(json_read(path, &root));
    tsr_status status = check_index(path, root);
    if (status == TSR_OK)
        status = load_checked(path, root, desc, model, bytes);
    cJSON_Delete(root);
    return status;
}
