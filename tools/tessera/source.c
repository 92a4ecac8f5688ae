#define _POSIX_C_SOURCE 200809L
#include "source.h"
#include "tiling.h"
#include "tool.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FRAME_SIDE = 32768 };

static bool is_folder(const char *path) {
    struct stat place;
    return stat(path, &place) == 0 && S_ISDIR(place.st_mode);
}

static bool is_pipe(const char *path) {
    return strcmp(path, "-") == 0;
}

static bool is_film(const char *path) {
    return is_pipe(path) || (file_is(path, ".y4m") && !is_folder(path));
}

bool source_is_many(const char *path) {
    return is_film(path) || is_folder(path) || (strpbrk(path, "*?[") && access(path, F_OK) != 0);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Parses exactly two whole numbers with a separator between them. */
static bool parse_pair(const char *text, char between, int64_t pair[2]) {
    char *end;
    errno = 0;
    pair[0] = strtoll(text, &end, 10);
    if (end == text || *end != between)
        return false;
    const char *second = end + 1;
    pair[1] = strtoll(second, &end, 10);
    return end != second && !*end && !errno;
}

tsr_status source_parse_frame(const char *text, source_frame *frame) {
    int64_t pair[2];
    if (!parse_pair(text, 'x', pair) || pair[0] < 1 || pair[1] < 1 || pair[0] > MAX_FRAME_SIDE ||
        pair[1] > MAX_FRAME_SIDE)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--frame expects WxH, each at most %d, as in 640x480, not '%s'", MAX_FRAME_SIDE,
                    text);
    *frame = (source_frame){(int)pair[0], (int)pair[1]};
    return TSR_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool is_tensor_file(const char *name) {
    return picture_is_file(name) || file_is(name, ".npy") || file_is(name, ".pb");
}

/* "folder/name" (malloc). */
static char *join(const char *folder, const char *name) {
    size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = malloc(room);
    bool slash = length > 0 && folder[length - 1] == '/';
    if (path)
        snprintf(path, room, "%s%s%s", folder, slash ? "" : "/", name);
    return path;
}

/* Takes ownership of the path, which may be NULL if out of memory. */
static tsr_status append(source *s, int64_t *room, char *path) {
    if (path && s->path_count == *room) {
        int64_t more = *room ? *room * 2 : 64;
        char **grown = (size_t)more <= SIZE_MAX / sizeof *grown
                           ? realloc(s->paths, (size_t)more * sizeof *grown)
                           : NULL;
        if (grown) {
            s->paths = grown;
            *room = more;
        }
    }
    if (!path || s->path_count == *room) {
        free(path);
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the list of inputs");
    }
    s->paths[s->path_count++] = path;
    return TSR_OK;
}

/* Folders in it are not looked into. */
static tsr_status tell_left_out(const char *folder, const char *name) {
    char *path = join(folder, name);
    if (!path)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the list of inputs");
    note("left out: %s is %s", path, is_folder(path) ? "a folder" : "no picture, .npy or .pb file");
    free(path);
    return TSR_OK;
}

static tsr_status list_folder(source *s, const char *folder) {
    DIR *directory = opendir(folder);
    if (!directory)
        return fail(TSR_ERROR_IO, "%s: %s", folder, strerror(errno));
    tsr_status status = TSR_OK;
    int64_t room = 0;
    const struct dirent *entry;
    while (status == TSR_OK && (errno = 0, entry = readdir(directory)))
        if (is_tensor_file(entry->d_name) && entry->d_name[0] != '.')
            status = append(s, &room, join(folder, entry->d_name));
        else if (entry->d_name[0] != '.')
            status = tell_left_out(folder, entry->d_name);
    if (status == TSR_OK && errno)
        status = fail(TSR_ERROR_IO, "%s: %s", folder, strerror(errno));
    closedir(directory);
    if (status == TSR_OK && s->path_count == 0)
        return fail(TSR_ERROR_IO, "%s: holds no picture, .npy or .pb file", folder);
    return status;
}

static tsr_status list_pattern(source *s, const char *pattern) {
    glob_t found;
    int result = glob(pattern, GLOB_NOSORT, NULL, &found);
    if (result == GLOB_NOSPACE)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the list of inputs");
    tsr_status status = TSR_OK;
    int64_t room = 0;
    for (size_t i = 0; result == 0 && i < found.gl_pathc && status == TSR_OK; i++)
        if (!is_folder(found.gl_pathv[i]))
            status = append(s, &room, strdup(found.gl_pathv[i]));
    globfree(&found);
    if (status == TSR_OK && s->path_count == 0)
        return fail(TSR_ERROR_IO, "%s: matches no file", pattern);
    return status;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- opening --------------------------------------------------------------------------------- */

tsr_status source_open(source *s, job *j, job_input *input, shard shard, source_frame frame) {
    *s = (source){.job = j,
                  .input = input,
                  .open = *input,
                  .was_resized = j->resized,
                  .shard = shard,
                  .film.descriptor = -1};
    const char *path = input->many;
    tsr_status status;
    if (frame.width && !is_pipe(path))
        status = fail(TSR_ERROR_INVALID_ARGUMENT, "--frame is for raw frames: -i -");
    else if (is_film(path))
        status = film_open(&s->film, path, frame.width, frame.height, input->image.most_megapixels);
    else
        status = is_folder(path) ? list_folder(s, path) : list_pattern(s, path);
    if (status != TSR_OK)
        source_close(s);
    else if (s->paths)
        qsort(s->paths, (size_t)s->path_count, sizeof *s->paths, compare_paths);
    return status;
}

void source_close(source *s) {
    for (int64_t i = 0; i < s->path_count; i++)
        free(s->paths[i]);
    free(s->paths);
    film_close(&s->film);
    *s = (source){.film.descriptor = -1};
}

int64_t source_count(const source *s) {
    return s->paths ? shard_size(s->shard, s->path_count) - s->left_out : -1;
}

char *source_name(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

void source_leave_out(source *s, bool (*done)(const void *user, const char *name),
                      const void *user) {
    for (int64_t i = s->shard.index; i < s->path_count; i += s->shard.count) {
        char *name = source_name(s->paths[i]);
        if (name && done(user, name)) {
            free(s->paths[i]);
            s->paths[i] = NULL;
            s->left_out++;
        }
        free(name);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The shape for a picture of this size, 0 x 0: for another tensor. */
static tsr_status choose_shape(source *s, int width, int height) {
    if (width && width == s->width && height == s->height)
        return TSR_OK;
    const job_input now = *s->input;
    const bool resized = s->job->resized;
    *s->input = s->open;
    s->job->resized = s->was_resized;
    tsr_status status = width ? tiling_open_size(s->job, s->input, width, height) : TSR_OK;
    s->shape = s->input->info.shape;
    s->resized = s->job->resized;
    s->width = status == TSR_OK ? width : 0;
    s->height = height;
    *s->input = now;
    s->job->resized = resized;
    return status;
}

void source_set_shape(const source *s, const tsr_shape *shape) {
    *s->input = s->open;
    s->input->info.shape = *shape;
    s->input->shaped = true;
    s->job->resized = s->resized;
}

static tsr_status make_frame(const source *s, const char *name, source_item *made) {
    image_options options = s->input->image;
    tsr_tensor_info info = s->input->info;
    info.shape = s->shape;
    options.silent = s->at > 0; /* frames are of one size: source_shape() has told */
    return image_from_rgb(s->film.rgb, s->film.format.width, s->film.format.height, name, &info,
                          &options, &made->tensor, &made->side);
}

static tsr_status fail_name(void) {
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a name");
}

/* Frames of other shards are skipped. */
static tsr_status next_frame(source *s, source_item *item) {
    for (;;) {
        bool there;
        TRY(film_read(&s->film, &there));
        if (!there)
            return TSR_OK;
        if (shard_has(s->shard, s->at++))
            break;
    }
    char name[32];
    snprintf(name, sizeof name, "%06lld", (long long)s->at - 1);
    TRY(make_frame(s, name, item));
    item->name = strdup(name);
    return item->name ? TSR_OK : fail_name();
}

/* A pipe in a folder would block. silent: without notes. */
static tsr_status load_file(source *s, int64_t at, bool silent, source_item *made) {
    const char *path = s->paths[at];
    job_input quiet = s->open;
    int width = 0, height = 0;
    TRY(file_check_regular(path));
    if (picture_is_file(path) && (s->own_sizes || !s->shaped))
        TRY(picture_size(path, quiet.image.most_megapixels, &width, &height));
    if (s->own_sizes || !s->shaped)
        TRY(choose_shape(s, width, height));
    quiet.info.shape = s->shape;
    quiet.image.silent = silent;
    return job_load(s->job, &quiet, path, &made->tensor, &made->side);
}

void source_skip(source *s) {
    s->skipped++;
    progress_clear();
    fprintf(stderr, "tessera: skipped: %s\n", failure());
}

static tsr_status next_file(source *s, source_item *item) {
    for (; s->at < s->path_count; s->at++) {
        const char *path = s->paths[s->at];
        if (!path || !shard_has(s->shard, s->at))
            continue;
        tsr_status status = load_file(s, s->at, false, item);
        if (status == TSR_ERROR_OUT_OF_MEMORY)
            return status;
        if (status == TSR_OK) {
            s->at++;
            item->path = path;
            item->name = source_name(path);
            return item->name ? TSR_OK : fail_name();
        }
        source_skip(s);
    }
    return TSR_OK;
}

tsr_status source_next(source *s, source_item *item) {
    *item = (source_item){0};
    tsr_status status = s->paths ? next_file(s, item) : next_frame(s, item);
    if (status != TSR_OK)
        source_item_free(item);
    return status;
}

void source_item_free(source_item *item) {
    tensor_free(&item->tensor);
    image_side_free(&item->side);
    free(item->name);
    *item = (source_item){0};
}

tsr_status source_shape(source *s, tsr_shape *shape, const char **name) {
    source_item first = {0};
    *name = s->input->many;
    tsr_status status = TSR_ERROR_INVALID_ARGUMENT;
    if (s->paths)
        for (int64_t i = 0; i < s->path_count && status != TSR_OK; i++) {
            *name = s->paths[i];
            status = load_file(s, i, true, &first);
            if (status == TSR_ERROR_OUT_OF_MEMORY)
                return status;
        }
    else if ((status = choose_shape(s, s->film.format.width, s->film.format.height)) == TSR_OK)
        status = make_frame(s, "a frame", &first);
    if (status != TSR_OK)
        return status;
    *shape = s->shape = first.tensor.shape;
    s->shaped = true;
    source_item_free(&first);
    return TSR_OK;
}

bool source_waits(const source *s) {
    return !s->paths && film_waits(&s->film);
}
