/* Batches: every input of the job, from a file or random, repeated. */
#include "bench.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static tsr_status repeat(tensor *t, int batch, const char *name) {
    float *grown = NULL;
    size_t limit = SIZE_MAX / sizeof *grown / (size_t)batch;
    if (t->count <= limit)
        grown = realloc(t->values, (t->count ? t->count : 1) * (size_t)batch * sizeof *grown);
    if (!grown)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "input '%s': not enough memory for --batch %d", name,
                    batch);
    t->values = grown;
    for (int i = 1; i < batch; i++)
        memcpy(grown + (size_t)i * t->count, grown, t->count * sizeof *grown);
    t->count *= (size_t)batch;
    t->shape.dim[0] = batch;
    return TSR_OK;
}

static tsr_status set_batch(job *j, int index, int batch) {
    job_input *input = &j->inputs[index];
    tsr_shape *shape = &input->info.shape;
    tsr_tensor_info declared;
    TRY_LIBRARY(tsr_model_input(j->model, index, &declared));
    if (shape->dim[0] == batch)
        return TSR_OK;
    if (shape->dim[0] != 1)
        return fail(TSR_ERROR_SHAPE, "input '%s' is %s: its first size is neither 1 nor --batch %d",
                    input->info.name, shape_label(shape).text, batch);
    TRY(repeat(&input->tensor, batch, input->info.name));
    shape->dim[0] = batch;
    input->shaped = true;
    j->resized = j->resized || (declared.shape.rank > 0 && declared.shape.dim[0] >= 0);
    return TSR_OK;
}

tsr_status bench_set_batch(job *j, int batch) {
    bool any = false;
    for (int i = 0; i < j->input_count; i++) {
        if (j->inputs[i].fixed || j->inputs[i].info.shape.rank < 1)
            continue;
        TRY(set_batch(j, i, batch));
        any = true;
    }
    return any ? TSR_OK : fail(TSR_ERROR_SHAPE, "%s: no input has an axis for --batch", j->path);
}
