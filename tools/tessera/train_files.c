/* The files of `tessera train`: inputs and their targets. */
#define _POSIX_C_SOURCE 200809L
#include "source.h"
#include "tool.h"
#include "train.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static tsr_status fail_memory(void) {
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the list of files");
}

static bool is_folder(const char *path) {
    struct stat place;
    return stat(path, &place) == 0 && S_ISDIR(place.st_mode);
}

/* ---- folders --------------------------------------------------------------------------------- */

typedef struct named_file {
    char *name, *path; /* malloc; name: without folder and extension */
} named_file;

typedef struct file_list {
    named_file *files; /* by name */
    int count;
} file_list;

static void free_list(file_list *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->files[i].name);
        free(list->files[i].path);
    }
    free(list->files);
    *list = (file_list){0};
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const named_file *)a)->name, ((const named_file *)b)->name);
}

/* Takes the source's paths. */
static tsr_status take_paths(source *s, file_list *list) {
    list->files = calloc((size_t)s->path_count + 1, sizeof *list->files);
    if (!list->files || s->path_count > INT_MAX)
        return fail_memory();
    for (; list->count < (int)s->path_count; list->count++) {
        named_file *file = &list->files[list->count];
        file->name = source_name(s->paths[list->count]);
        if (!file->name)
            return fail_memory();
        file->path = s->paths[list->count];
        s->paths[list->count] = NULL;
    }
    qsort(list->files, (size_t)list->count, sizeof *list->files, compare_names);
    return TSR_OK;
}

static tsr_status list_folder(job *j, const char *folder, file_list *made) {
    source s;
    job_input *input = &j->inputs[0];
    *made = (file_list){0};
    if (!is_folder(folder))
        return fail(TSR_ERROR_IO, "%s: is no folder", folder);
    input->many = folder;
    tsr_status status = source_open(&s, j, input, (shard){0, 1}, (source_frame){0, 0});
    input->many = NULL;
    TRY(status);
    status = take_paths(&s, made);
    source_close(&s);
    if (status != TSR_OK)
        free_list(made);
    return status;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Takes the path of each folder's file. */
static tsr_status add_sample(train_files *files, named_file *const *of, int class) {
    if (files->count == files->room) {
        int room = files->room ? 2 * files->room : 64;
        train_sample *larger = files->room <= INT_MAX / 2
                                   ? realloc(files->samples, (size_t)room * sizeof *larger)
                                   : NULL;
        if (!larger)
            return fail_memory();
        files->samples = larger;
        files->room = room;
    }
    char **paths = malloc((size_t)files->path_count * sizeof *paths);
    if (!paths)
        return fail_memory();
    for (int k = 0; k < files->path_count; k++) {
        paths[k] = of[k]->path;
        of[k]->path = NULL;
    }
    files->samples[files->count++] = (train_sample){.paths = paths, .class = class};
    return TSR_OK;
}

static tsr_status add_all(train_files *files, job *j, const char *folder, int class) {
    file_list list;
    TRY(list_folder(j, folder, &list));
    tsr_status status = TSR_OK;
    for (int i = 0; i < list.count && status == TSR_OK; i++)
        status = add_sample(files, (named_file *[]){&list.files[i]}, class);
    free_list(&list);
    return status;
}

/* ---- folders of the same names -----------------------------------------------------------------
 */

static tsr_status check_names(const file_list *list) {
    for (int i = 1; i < list->count; i++)
        if (strcmp(list->files[i - 1].name, list->files[i].name) == 0)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s and %s have the same name",
                        list->files[i - 1].path, list->files[i].path);
    return TSR_OK;
}

/* The i-th file of each folder has the same name. */
static tsr_status join(train_files *files, const char *const *folders, file_list *lists,
                       named_file **of) {
    int count = files->path_count;
    for (int i = 0;; i++) {
        int ended = 0;
        for (int k = 0; k < count; k++) {
            of[k] = i < lists[k].count ? &lists[k].files[i] : NULL;
            ended += !of[k];
        }
        if (ended == count)
            return TSR_OK;
        for (int k = 1; k < count; k++) {
            int order = !of[0] ? 1 : !of[k] ? -1 : strcmp(of[0]->name, of[k]->name);
            if (order && (of[0] || of[k]))
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s has no file of that name",
                            order < 0 ? of[0]->path : of[k]->path, folders[order < 0 ? k : 0]);
        }
        TRY(add_sample(files, of, 0));
    }
}

static tsr_status find_groups(train_files *files, job *j, const char *const *folders) {
    int count = files->path_count;
    file_list *lists = calloc((size_t)count, sizeof *lists);
    named_file **of = calloc((size_t)count, sizeof *of);
    tsr_status status = lists && of ? TSR_OK : fail_memory();
    for (int k = 0; k < count && status == TSR_OK; k++) {
        status = list_folder(j, folders[k], &lists[k]);
        if (status == TSR_OK)
            status = check_names(&lists[k]);
    }
    if (status == TSR_OK)
        status = join(files, folders, lists, of);
    for (int k = 0; k < count && lists; k++)
        free_list(&lists[k]);
    free(lists);
    free(of);
    return status;
}

/* ---- folders of classes ---------------------------------------------------------------------- */

static void path_in(const char *folder, const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
}

static tsr_status list_classes(const char *folder, labels *made) {
    DIR *directory = opendir(folder);
    *made = (labels){.from = folder};
    if (!directory)
        return fail(TSR_ERROR_IO, "%s: %s", folder, strerror(errno));
    tsr_status status = TSR_OK;
    const struct dirent *entry;
    int others = 0;
    while (status == TSR_OK && (errno = 0, entry = readdir(directory))) {
        char path[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        path_in(folder, entry->d_name, path);
        if (is_folder(path))
            status = labels_add(made, entry->d_name, strlen(entry->d_name));
        else
            others++;
    }
    if (status == TSR_OK && errno)
        status = fail(TSR_ERROR_IO, "%s: %s", folder, strerror(errno));
    closedir(directory);
    if (others)
        note("left out: %d files of %s, which are in no folder of a class", others, folder);
    return status;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static tsr_status find_class(const labels *l, const char *folder, const char *name, int *class) {
    for (*class = 0; *class < l->count; ++*class)
        if (strcmp(l->names[*class], name) == 0)
            return TSR_OK;
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s/%s: %s has no label of that name", folder, name,
                l->from);
}

static tsr_status add_classes(train_files *files, job *j, const char *folder, labels *names) {
    const labels *l = &j->description.labels;
    if (!names->count)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: has no folders of classes; with --side-by-side or --targets it needs none",
                    folder);
    if (names->count == 1)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: has one class only, '%s': there is nothing to tell apart", folder,
                    names->names[0]);
    qsort(names->names, (size_t)names->count, sizeof *names->names, compare_texts);
    files->classes = names->count;
    for (int i = 0; i < names->count; i++) {
        char path[PATH_MAX];
        int class = i;
        if (l->count)
            TRY(find_class(l, folder, names->names[i], &class));
        path_in(folder, names->names[i], path);
        TRY(add_all(files, j, path, class));
    }
    return TSR_OK;
}

static tsr_status find_classes(train_files *files, job *j, const char *folder) {
    labels names;
    tsr_status status = list_classes(folder, &names);
    if (status == TSR_OK)
        status = add_classes(files, j, folder, &names);
    labels_free(&names);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

tsr_status train_find_files(train_form form, job *j, const char *const *folders, int folder_count,
                            train_files *made) {
    *made = (train_files){.path_count = folder_count};
    tsr_status status;
    switch (form) {
    case TRAIN_FOLDERS:
        status = find_groups(made, j, folders);
        break;
    case TRAIN_HALVES:
        status = add_all(made, j, folders[0], 0);
        break;
    default:
        status = find_classes(made, j, folders[0]);
    }
    if (status != TSR_OK)
        train_free_files(made);
    return status;
}

void train_free_files(train_files *files) {
    for (int i = 0; i < files->count; i++) {
        for (int k = 0; k < files->path_count; k++)
            free(files->samples[i].paths[k]);
        free(files->samples[i].paths);
        free(files->samples[i].elements);
    }
    free(files->samples);
    *files = (train_files){0};
}
