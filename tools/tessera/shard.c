#include "shard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool shard_has(shard s, int64_t item) {
    return item % s.count == s.index;
}

int64_t shard_size(shard s, int64_t items) {
    return items > s.index ? (items - s.index - 1) / s.count + 1 : 0;
}

/* A whole number that is all of the text; -1: none, negative, or beyond any list of files. */
static int64_t number_of(const char *text) {
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    return end == text || *end || errno || value < 0 || value > INT32_MAX ? -1 : value;
}

/* *value stays as it is where the variable is not set. */
static tsr_status take_variable(const char *name, int64_t *value) {
    const char *text = getenv(name);
    if (!text)
        return TSR_OK;
    *value = number_of(text);
    return *value >= 0 ? TSR_OK
                       : fail(TSR_ERROR_INVALID_ARGUMENT, "--shard auto: %s is '%s'", name, text);
}

/* Slurm's array of jobs. count 0: its indices are not 0, 1, ..., so that they do not tell how many
 * parts there are. */
static tsr_status take_array(shard *array) {
    int64_t first = 0, last = 0;
    TRY(take_variable("SLURM_ARRAY_TASK_ID", &array->index));
    TRY(take_variable("SLURM_ARRAY_TASK_COUNT", &array->count));
    TRY(take_variable("SLURM_ARRAY_TASK_MIN", &first));
    TRY(take_variable("SLURM_ARRAY_TASK_MAX", &last));
    if (first != 0 || last != array->count - 1)
        array->count = 0;
    return TSR_OK;
}

/* Each job of an array may start several tasks. */
static tsr_status take_environment(shard *found) {
    shard array = {0, 1}, tasks = {0, 1};
    if (getenv("SLURM_ARRAY_TASK_ID"))
        TRY(take_array(&array));
    if (getenv("SLURM_STEP_NUM_TASKS")) { /* set by srun alone, unlike SLURM_PROCID */
        TRY(take_variable("SLURM_PROCID", &tasks.index));
        TRY(take_variable("SLURM_STEP_NUM_TASKS", &tasks.count));
    } else if (!getenv("SLURM_ARRAY_TASK_ID")) {
        if (!getenv("JOB_COMPLETION_INDEX"))
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "--shard auto: no Slurm array (SLURM_ARRAY_TASK_ID), srun "
                        "(SLURM_STEP_NUM_TASKS) or Kubernetes job (JOB_COMPLETION_INDEX) here");
        TRY(take_variable("JOB_COMPLETION_INDEX", &array.index));
        array.count = 0; /* is not told */
    }
    *found = (shard){array.index * tasks.count + tasks.index, array.count * tasks.count};
    return TSR_OK;
}

static tsr_status make_auto(const char *count, shard *made) {
    TRY(take_environment(made));
    if (!count && !made->count)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--shard auto: the environment does not tell how many parts there are: give "
                    "auto/N (Kubernetes' completions; in a Slurm array its indices are 0 to N-1)");
    if (count)
        made->count = number_of(count);
    return made->index < made->count
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT,
                      "--shard auto: the environment's index is %lld, but parts are 0 to %lld",
                      (long long)made->index, (long long)made->count - 1);
}

tsr_status shard_parse(const char *text, shard *made) {
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    char first[24] = "";
    if (length < sizeof first)
        memcpy(first, text, length);
    const char *count = slash ? slash + 1 : NULL;
    bool automatic = strcmp(first, "auto") == 0;
    if (automatic && (!count || number_of(count) > 0))
        return make_auto(count, made);
    *made = (shard){number_of(first), count ? number_of(count) : 0};
    if (automatic || made->index < 0 || made->index >= made->count)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--shard expects I/N with I from 0 to N-1, as in 0/4, auto or auto/N, not '%s'",
                    text);
    return TSR_OK;
}
