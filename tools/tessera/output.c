#define _POSIX_C_SOURCE 200809L
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "folder/", or "" for the current one (malloc). */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* A pipe or a device is written to directly: renaming a file to its name would remove it. */
static bool is_special(const char *path) {
    struct stat place;
    return stat(path, &place) == 0 && !S_ISREG(place.st_mode);
}

bool output_is_folder(const char *path) {
    struct stat place;
    return (path[0] && path[strlen(path) - 1] == '/') ||
           (stat(path, &place) == 0 && S_ISDIR(place.st_mode));
}

/* Cuts the last part of the path off; false where there is none. */
static bool cut_last(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return false;
    *slash = 0;
    return true;
}

/* A folder that is not there will be made: what counts is the nearest that is. Changes the path. */
static bool is_writable_folder(char *folder) {
    while (access(folder, F_OK) != 0 && errno == ENOENT)
        if (!cut_last(folder))
            return access(folder[0] == '/' ? "/" : ".", W_OK) == 0;
    return access(folder, W_OK) == 0;
}

tsr_status output_check(const char *path) {
    if (!path[0] || output_is_folder(path))
        return fail(TSR_ERROR_IO, "'%s' is a folder, not a file to write", path);
    char *folder = folder_of(path);
    if (!folder)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    bool good = is_special(path) ? access(path, W_OK) == 0
                : folder[0]      ? is_writable_folder(folder)
                                 : access(".", W_OK) == 0;
    free(folder);
    return good ? TSR_OK : fail(TSR_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* Those of the path up to its last '/'. Changes the path in between. */
static bool make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

tsr_status output_make_folder(const char *path) {
    char *folder = folder_of(path);
    if (!folder)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    bool made = !folder[0] || make_folders(folder);
    free(folder);
    return made ? TSR_OK
                : fail(TSR_ERROR_IO, "%s: its folder cannot be made: %s", path, strerror(errno));
}

/* A temporary name in the same folder (malloc). */
static char *temporary_of(const char *path) {
    char *folder = folder_of(path);
    size_t room = strlen(path) + 40;
    char *made = folder ? malloc(room) : NULL;
    if (made)
        snprintf(made, room, "%s.%s.%ld.tmp", folder, path + strlen(folder), (long)getpid());
    free(folder);
    return made;
}

static output_file *volatile unfinished; /* those whose temporary files are there */

void output_abandon(int number) {
    for (const output_file *out = unfinished; out; out = out->next)
        unlink(out->temporary);
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number); /* the first process of a container is not ended by a signal */
}

/* A file of that name was left by a killed process with the same id, perhaps in another
 * container. */
static int create_temporary(output_file *out) {
    unlink(out->temporary);
    if (!unfinished)
        signals_catch(output_abandon);
    out->next = unfinished;
    unfinished = out;
    return open(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
}

static void leave_unfinished(const output_file *out) {
    if (unfinished == out) {
        unfinished = out->next;
    } else {
        output_file *before = unfinished;
        while (before->next != out)
            before = before->next;
        before->next = out->next;
    }
    if (!unfinished)
        signals_release();
}

static void free_temporary(output_file *out) {
    if (out->temporary)
        leave_unfinished(out);
    free(out->temporary);
}

static tsr_status fail_to_write(const output_file *out) {
    return fail(TSR_ERROR_IO, "%s: cannot be written: %s", out->path, strerror(errno));
}

bool output_is_same(const char *path, const char *other) {
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

bool output_is_same_place(const char *path, const char *other) {
    char *folder = folder_of(path), *other_folder = folder_of(other);
    bool same = folder && other_folder &&
                strcmp(path + strlen(folder), other + strlen(other_folder)) == 0 &&
                (strcmp(folder, other_folder) == 0 ||
                 output_is_same(folder[0] ? folder : ".", other_folder[0] ? other_folder : "."));
    free(folder);
    free(other_folder);
    return same;
}

tsr_status output_begin(const char *path, output_file *out) {
    TRY(output_check(path));
    *out = (output_file){.path = path};
    bool special = is_special(path);
    if (!special)
        TRY(output_make_folder(path));
    if (!special && !(out->temporary = temporary_of(path)))
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    int descriptor = special ? open(path, O_WRONLY) : create_temporary(out);
    out->file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (out->file)
        return TSR_OK;
    fail_to_write(out);
    if (descriptor >= 0) {
        close(descriptor);
        if (!special)
            unlink(out->temporary);
    }
    free_temporary(out);
    return TSR_ERROR_IO;
}

tsr_status output_close(output_file *out, tsr_status status) {
    bool written = !ferror(out->file);
    written = fclose(out->file) == 0 && written;
    out->file = NULL;
    return status == TSR_OK && !written ? fail_to_write(out) : status;
}

tsr_status output_end(output_file *out, tsr_status status) {
    if (out->file)
        status = output_close(out, status);
    if (status == TSR_OK && out->temporary && rename(out->temporary, out->path) != 0)
        status = fail_to_write(out);
    if (status != TSR_OK && out->temporary)
        unlink(out->temporary);
    free_temporary(out);
    return status;
}

/* ---- tensors --------------------------------------------------------------------------------- */

bool output_is_tensor(const char *path) {
    return image_is_file(path) || file_is(path, ".npy") || text_is_file(path);
}

tsr_status output_check_tensor(const char *path) {
    if (!output_is_tensor(path))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: an output file is .npy, .txt, .csv, .json, .png or .jpg", path);
    return output_check(path);
}

tsr_status output_check_shape(const char *path, const tsr_shape *shape) {
    int longer = 0;
    for (int i = 0; i < shape->rank; i++)
        longer += shape->dim[i] != 1;
    bool vector =
        shape->rank < 2 || (shape->rank < 4 && longer < 2) ||
        (shape->rank == 4 && shape->dim[1] > 4 && shape->dim[2] == 1 && shape->dim[3] == 1);
    if (!vector || !image_is_file(path))
        return TSR_OK;
    return fail(TSR_ERROR_SHAPE,
                "%s: a tensor %s is a vector, not a picture; write .npy, .txt, .csv or .json", path,
                shape_label(shape).text);
}

static tsr_status write_tensor(FILE *file, const char *path, const tensor *t,
                               const image_options *options) {
    TRY(output_check_shape(path, &t->shape));
    if (image_is_file(path))
        return image_write(file, path, t, options);
    bool written = text_is_file(path) ? text_write(file, path, t) : npy_write(file, t);
    return written ? TSR_OK
                   : fail(TSR_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

tsr_status output_tensor(const char *path, const tensor *t, const image_options *options) {
    output_file out;
    TRY(output_begin(path, &out));
    return output_end(&out, write_tensor(out.file, path, t, options));
}

tsr_status output_to_stdout(const char *extension, const tensor *t, const image_options *options) {
    char path[32];
    snprintf(path, sizeof path, "standard output.%s", extension);
    TRY(write_tensor(stdout, path, t, options));
    return fflush(stdout) == 0 ? TSR_OK
                               : fail(TSR_ERROR_IO, "the standard output cannot be written to: %s",
                                      strerror(errno));
}
