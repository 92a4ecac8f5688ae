#define _POSIX_C_SOURCE 200809L
#include "calibration.h"
#include "tool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_open(const job_input *input) {
    return !input->given;
}

static int count_open(const job *j) {
    int count = 0;
    for (int i = 0; i < j->input_count; i++)
        count += is_open(&j->inputs[i]);
    return count;
}

/* "FOLDER/NAME" if that is a folder, else FOLDER, if it is for this input alone. */
static tsr_status choose_folder(const job *j, const job_input *input, const char *folder,
                                char path[PATH_MAX]) {
    struct stat place;
    snprintf(path, PATH_MAX, "%s/%s", folder, input->info.name);
    if (stat(path, &place) == 0 && S_ISDIR(place.st_mode))
        return TSR_OK;
    if (count_open(j) > 1)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: no such folder: each of the %d inputs that have no -i needs one", path,
                    count_open(j));
    snprintf(path, PATH_MAX, "%s", folder);
    return stat(path, &place) == 0 && S_ISDIR(place.st_mode)
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is no folder", path);
}

static tsr_status open_files(calibration *c, int input, const char *folder) {
    char path[PATH_MAX];
    job_input *of = &c->job->inputs[input];
    if (of->fixed)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "input '%s' has to be constant: give it with -i %s=FILE", of->info.name,
                    of->info.name);
    TRY(choose_folder(c->job, of, folder, path));
    of->many = path;
    tsr_status status =
        source_open(&c->files[input], c->job, of, (shard){0, 1}, (source_frame){0, 0});
    of->many = NULL;
    return status;
}

/* The same for all inputs. */
static tsr_status count_files(calibration *c) {
    const source *first = NULL;
    for (int i = 0; i < c->job->input_count; i++) {
        const source *s = &c->files[i];
        if (!s->paths)
            continue;
        if (first && s->path_count != first->path_count)
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "input '%s' has %lld files, but input '%s' has %lld", s->input->info.name,
                        (long long)s->path_count, first->input->info.name,
                        (long long)first->path_count);
        first = first ? first : s;
    }
    if (!first)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "-i gives all inputs: the folder is for those without it");
    if (first->path_count > INT_MAX)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "too many files");
    c->count = (int)first->path_count;
    c->names = first->paths;
    return TSR_OK;
}

/* ---- samples --------------------------------------------------------------------------------- */

tsr_status calibration_load(calibration *c, int sample) {
    for (int i = 0; i < c->job->input_count; i++) {
        job_input *input = &c->job->inputs[i];
        if (!c->files[i].paths)
            continue;
        const char *path = c->files[i].paths[sample];
        tensor_free(&input->tensor);
        input->given = false;
        TRY(file_check_regular(path));
        image_side_free(&input->side);
        TRY(job_load(c->job, input, path, &input->tensor, &input->side));
        input->info.shape = input->tensor.shape;
        input->given = input->shaped = true;
    }
    return TSR_OK;
}

tsr_status calibration_sample(void *user, int sample, tsr_fixed_input *inputs) {
    calibration *c = user;
    c->status = calibration_load(c, sample);
    if (c->status != TSR_OK)
        c->message = strdup(failure());
    for (int i = 0; i < c->job->input_count && c->status == TSR_OK; i++)
        job_describe_input(&c->job->inputs[i], &inputs[i]);
    return c->status;
}

tsr_status calibration_open(calibration *made, job *j, const char *folder) {
    *made = (calibration){.job = j, .files = calloc((size_t)j->input_count + 1, sizeof(source))};
    tsr_status status = made->files ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < j->input_count && status == TSR_OK; i++)
        if (is_open(&j->inputs[i]))
            status = open_files(made, i, folder);
    if (status == TSR_OK)
        status = count_files(made);
    if (status == TSR_OK)
        status = calibration_load(made, 0);
    if (status != TSR_OK)
        calibration_close(made);
    return status;
}

void calibration_close(calibration *c) {
    for (int i = 0; c->files && i < c->job->input_count; i++)
        source_close(&c->files[i]);
    free(c->files);
    free(c->message);
    *c = (calibration){0};
}
