#include "noise.h"

#include "tool.h"

#include <math.h>
#include <stdlib.h>

/* Every second element up, the others down, by one unit in the last place. */
static tsr_status set_nudged(const job_input *input, tsr_session *session) {
    const tensor *t = &input->tensor;
    float *nudged = malloc((t->count + 1) * sizeof *nudged);
    if (!nudged)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "input '%s': not enough memory", input->info.name);
    for (size_t i = 0; i < t->count; i++)
        nudged[i] = nextafterf(t->values[i], i % 2 ? INFINITY : -INFINITY);
    tsr_status status = tsr_session_set_input(session, input->info.name, nudged, t->count);
    free(nudged);
    return status == TSR_OK ? TSR_OK : fail_library(status);
}

static double largest_move(const tensor *a, const tensor *b) {
    double largest = 0;
    for (size_t i = 0; i < a->count; i++)
        if (isfinite(a->values[i]) && isfinite(b->values[i]))
            largest = fmax(largest, fabs((double)a->values[i] - b->values[i]));
    return largest;
}

tsr_status noise_run(const job *j, tsr_session *session) {
    for (int i = 0; i < j->input_count; i++)
        if (!j->inputs[i].fixed && !dtype_is_integer(j->inputs[i].info.dtype))
            TRY(set_nudged(&j->inputs[i], session));
    TRY_LIBRARY(tsr_session_run(session));
    return TSR_OK;
}

tsr_status noise_of(tsr_session *session, int output, const tensor *before, double *noise) {
    tsr_tensor_info info;
    tensor after;
    TRY_LIBRARY(tsr_session_output(session, output, &info));
    TRY(job_fetch(session, info.name, &info.shape, &after));
    *noise = largest_move(before, &after);
    tensor_free(&after);
    return TSR_OK;
}
