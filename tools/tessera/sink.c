#define _POSIX_C_SOURCE 200809L
#include "sink.h"
#include "output.h"
#include "result.h"
#include "source.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static tsr_status fail_memory(void) {
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the names of outputs");
}

/* The pattern with the name in place of its '*' (malloc). */
static char *path_of(const sink *s, const char *name) {
    const char *star = strrchr(s->pattern, '*');
    size_t room = strlen(s->pattern) + strlen(name) + 1;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%.*s%s%s", (int)(star - s->pattern), s->pattern, name, star + 1);
    return path;
}

static tsr_status folder_pattern(const char *folder, char **pattern) {
    struct stat place;
    bool there = stat(folder, &place) == 0;
    bool file = there ? !S_ISDIR(place.st_mode) : output_is_tensor(folder);
    if (file)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: is one file for many outputs; give a folder, or a name with a * for the "
                    "inputs' names",
                    folder);
    size_t room = strlen(folder) + sizeof "/*.png";
    *pattern = malloc(room);
    if (!*pattern)
        return fail_memory();
    snprintf(*pattern, room, "%s/*.png", folder);
    return output_make_folder(*pattern);
}

/* Checked with a name in place of the '*': only the folder matters. */
static tsr_status check_pattern(const sink *s) {
    const char *star = strrchr(s->pattern, '*');
    if (strchr(s->pattern, '*') != star || strchr(star, '/'))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: one * in the file's name stands for the input's", s->pattern);
    char *path = path_of(s, "name");
    tsr_status status = path ? output_check_tensor(path) : fail_memory();
    free(path);
    return status;
}

static bool is_film(const char *path) {
    return strcmp(path, "-") == 0 || (file_is(path, ".y4m") && !strchr(path, '*'));
}

tsr_status sink_open(sink *s, const char *path, const film_format *format) {
    *s = (sink){0};
    if (!*path)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "-o: the name of the folder or film is empty");
    if (is_film(path)) {
        s->film = (film_writer){.path = path, .format = *format};
        return strcmp(path, "-") == 0 ? TSR_OK : output_check(path);
    }
    tsr_status status = TSR_OK;
    if (!strchr(path, '*'))
        status = folder_pattern(path, &s->pattern);
    else if (!(s->pattern = strdup(path)))
        return fail_memory();
    if (status == TSR_OK)
        status = check_pattern(s);
    if (status != TSR_OK)
        sink_close(s);
    return status;
}

tsr_status sink_end(sink *s) {
    return s->pattern ? TSR_OK : film_end(&s->film);
}

void sink_close(sink *s) {
    free(s->pattern);
    *s = (sink){0};
}

/* The identity of a file, whatever its path; both 0 if it does not exist. */
typedef struct identity {
    dev_t device;
    ino_t number;
} identity;

static identity identify(const char *path) {
    struct stat place;
    return stat(path, &place) == 0 ? (identity){place.st_dev, place.st_ino} : (identity){0};
}

static bool is_same_file(identity a, identity b) {
    return a.number && a.number == b.number && a.device == b.device;
}

/* Identity of the output folder. */
static identity identify_folder(const sink *s) {
    char *slash = strrchr(s->pattern, '/');
    if (!slash)
        return identify(".");
    if (slash == s->pattern)
        return identify("/");
    *slash = 0;
    identity folder = identify(s->pattern);
    *slash = '/';
    return folder;
}

/* ---- checking -------------------------------------------------------------------------------- */

typedef struct pairing {
    char *output;
    const char *input;
} pairing;

static int compare_outputs(const void *a, const void *b) {
    return strcmp(((const pairing *)a)->output, ((const pairing *)b)->output);
}

static tsr_status pair(const sink *s, const char *input, pairing *made) {
    char *name = source_name(input);
    *made = (pairing){name ? path_of(s, name) : NULL, input};
    free(name);
    return made->output ? TSR_OK : fail_memory();
}

static tsr_status check_pairs(pairing *pairs, int64_t count) {
    qsort(pairs, (size_t)count, sizeof *pairs, compare_outputs);
    for (int64_t i = 1; i < count; i++)
        if (strcmp(pairs[i - 1].output, pairs[i].output) == 0)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: would be written for %s and for %s",
                        pairs[i].output, pairs[i - 1].input, pairs[i].input);
    return TSR_OK;
}

static int compare_identities(const void *a, const void *b) {
    const identity *x = a, *y = b;
    int devices = (x->device > y->device) - (x->device < y->device);
    return devices ? devices : (x->number > y->number) - (x->number < y->number);
}

static tsr_status check_inputs(const pairing *pairs, int64_t count) {
    identity *inputs = calloc((size_t)count + 1, sizeof *inputs);
    if (!inputs)
        return fail_memory();
    for (int64_t i = 0; i < count; i++)
        inputs[i] = identify(pairs[i].input);
    qsort(inputs, (size_t)count, sizeof *inputs, compare_identities);
    tsr_status status = TSR_OK;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        identity output = identify(pairs[i].output);
        if (output.number &&
            bsearch(&output, inputs, (size_t)count, sizeof *inputs, compare_identities))
            status = fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is an input; it would be written over",
                          pairs[i].output);
    }
    free(inputs);
    return status;
}

static const char *name_of(const sink *s) {
    const char *slash = strrchr(s->pattern, '/');
    return slash ? slash + 1 : s->pattern;
}

bool sink_is_same(const sink *a, const sink *b) {
    if (!a->pattern || !b->pattern)
        return a->pattern == b->pattern && strcmp(a->film.path, b->film.path) == 0;
    return strcmp(name_of(a), name_of(b)) == 0 &&
           is_same_file(identify_folder(a), identify_folder(b));
}

bool sink_goes_to(const sink *s, const char *folder) {
    return s->pattern && is_same_file(identify_folder(s), identify(folder));
}

tsr_status sink_check(const sink *s, const job *j, char *const *inputs, int64_t count) {
    if (!s->pattern)
        return TSR_OK;
    pairing *pairs = calloc((size_t)count + 1, sizeof *pairs);
    tsr_status status = pairs ? TSR_OK : fail_memory();
    for (int64_t i = 0; i < count && status == TSR_OK; i++)
        status = pair(s, inputs[i], &pairs[i]);
    if (status == TSR_OK)
        status = check_pairs(pairs, count);
    if (status == TSR_OK)
        status = check_inputs(pairs, count);
    for (int64_t i = 0; i < count && status == TSR_OK; i++)
        status = description_check_output(j->path, j->options->description, pairs[i].output);
    for (int64_t i = 0; pairs && i < count; i++)
        free(pairs[i].output);
    free(pairs);
    return status;
}

bool sink_has(const sink *s, const char *name) {
    struct stat place;
    char *path = path_of(s, name);
    bool there = path && stat(path, &place) == 0 && S_ISREG(place.st_mode) && place.st_size > 0;
    free(path);
    return there;
}

tsr_status sink_check_shape(const sink *s, const tsr_shape *shape) {
    return output_check_shape(s->pattern ? s->pattern : "raw frames.png", shape);
}

/* ---- writing --------------------------------------------------------------------------------- */

static tsr_status write_frame(film_writer *film, const char *name, const tensor *t,
                              const image_options *options) {
    unsigned char *rgb;
    image_view view;
    TRY(image_to_rgb(t, name, options, &rgb, &view));
    tsr_status status =
        film_write(film, rgb, (int)view.width, (int)view.height, view.channels == 1);
    free(rgb);
    return status;
}

tsr_status sink_write(sink *s, const char *name, const tensor *t, const image_options *options) {
    char *path = s->pattern ? path_of(s, name) : NULL;
    if (!s->told && (!path || image_is_file(path)))
        s->told = result_note_range(path ? path : name, t, options);
    if (!s->pattern)
        return write_frame(&s->film, name, t, options);
    tsr_status status = path ? output_tensor(path, t, options) : fail_memory();
    free(path);
    return status;
}
