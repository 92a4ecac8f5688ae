/* Batches: every input of the job, from a file or random, repeated. */
#include "bench.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static tsr_status set_size(job *j, int index, int batch) {
    job_input *input = &j->inputs[index];
    tsr_shape *shape = &input->info.shape;
    tsr_tensor_info declared;
    TRY_LIBRARY(tsr_model_input(j->model, index, &declared));
    if (shape->dim[0] == batch)
        return TSR_OK;
    if (shape->dim[0] != 1)
        return fail(TSR_ERROR_SHAPE, "input '%s' is %s: its first size is neither 1 nor --batch %d",
                    input->info.name, shape_label(shape).text, batch);
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
        TRY(set_size(j, i, batch));
        any = true;
    }
    return any ? TSR_OK : fail(TSR_ERROR_SHAPE, "%s: no input has an axis for --batch", j->path);
}

static tsr_status repeat(job_input *input) {
    tensor *t = &input->tensor;
    size_t count = (size_t)tsr_shape_count(&input->info.shape);
    if (t->count == 0 || t->count == count)
        return TSR_OK;
    float *grown =
        count <= SIZE_MAX / sizeof *grown ? realloc(t->values, count * sizeof *grown) : NULL;
    if (!grown)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "input '%s': not enough memory for --batch",
                    input->info.name);
    t->values = grown;
    for (size_t at = t->count; at < count; at += t->count)
        memcpy(grown + at, grown, t->count * sizeof *grown);
    t->count = count;
    t->shape = input->info.shape;
    return TSR_OK;
}

tsr_status bench_repeat_inputs(job *j) {
    for (int i = 0; i < j->input_count; i++)
        if (!j->inputs[i].fixed)
            TRY(repeat(&j->inputs[i]));
    return TSR_OK;
}
