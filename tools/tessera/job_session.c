/* Sessions of a job: create, set inputs, read outputs. */
#include "job.h"
#include "tiling.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

tsr_status job_device(const job_options *options, const char *backend, tsr_device **device) {
    tsr_device_desc desc = {.backend = backend ? backend : options->backend,
                            .gpu = options->gpu,
                            .gles.max_texture_size = options->texture_size,
                            .gles.max_draw_buffers = options->draw_buffers,
                            .gles.max_uniform_block_bytes = options->block_bytes,
                            .gles.no_float_targets = options->no_float_targets,
                            .webgpu.adapter = options->adapter};
    TRY_LIBRARY(tsr_device_create(&desc, device));
    return TSR_OK;
}

void job_describe_input(const job_input *input, tsr_fixed_input *made) {
    const tsr_tensor_info *info = &input->info;
    *made = input->packed
                ? (tsr_fixed_input){info->name, info->dtype, info->shape, input->packed}
                : (tsr_fixed_input){info->name, TSR_DTYPE_F32, info->shape, input->tensor.values};
}

tsr_status job_describe_shapes(const job *j, tsr_session_desc *desc) {
    size_t room = j->input_count ? (size_t)j->input_count : 1;
    tsr_input_shape *shapes = calloc(room, sizeof *shapes);
    tsr_fixed_input *fixed = calloc(room, sizeof *fixed);
    desc->dims = j->dims;
    desc->dim_count = j->dim_count;
    desc->shapes = shapes;
    desc->fixed = fixed;
    if (!shapes || !fixed)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < j->input_count; i++) {
        const job_input *input = &j->inputs[i];
        const char *name = input->info.name;
        tsr_shape shape = input->tiled ? tiling_tile_shape(j->tiling) : input->info.shape;
        if (input->packed)
            fixed[desc->fixed_count++] =
                (tsr_fixed_input){name, input->info.dtype, shape, input->packed};
        else if (input->shaped)
            shapes[desc->shape_count++] = (tsr_input_shape){name, shape};
    }
    return TSR_OK;
}

void job_free_shapes(tsr_session_desc *desc) {
    free((void *)desc->shapes);
    free((void *)desc->fixed);
}

tsr_status job_session(const job *j, tsr_device *device, const tsr_session_desc *extra,
                       tsr_session **session) {
    tsr_session_desc desc = *extra;
    desc.precision = (tsr_precision)j->options->precision;
    desc.weights = (tsr_weight_type)j->options->weights;
    desc.allow_cpu_fallback = j->options->cpu_fallback;
    desc.poison = j->options->poison;
    desc.override_shapes = j->resized;
    if (!desc.optimizer_passes)
        desc.optimizer_passes = j->options->passes;
    if (j->options->no_tune || j->options->tune_ms)
        desc.tune_ms = j->options->no_tune ? -1 : j->options->tune_ms;
    desc.progress = (tsr_progress){progress_of_call, (void *)j->path};
    tsr_status status = job_describe_shapes(j, &desc);
    if (status == TSR_OK) {
        status = tsr_session_create(device, j->model, &desc, session);
        progress_clear();
        if (status != TSR_OK)
            fail_library(status);
    }
    job_free_shapes(&desc);
    return status;
}

tsr_status job_calibrate(const job *j, tsr_session *session) {
    if (j->options->precision != TSR_PRECISION_AUTO)
        return TSR_OK;
    progress("choosing the tensors that need 32 bits");
    tsr_status status = tsr_session_calibrate(session);
    progress_clear();
    return status == TSR_OK ? status : fail_library(status);
}

tsr_status job_set_inputs(const job *j, tsr_session *session) {
    bool complete = true;
    for (int i = 0; i < j->input_count; i++) {
        const job_input *input = &j->inputs[i];
        bool later = input->many || input->tiled;
        complete = complete && !later;
        if (!input->fixed && !later)
            TRY_LIBRARY(tsr_session_set_input(session, input->info.name, input->tensor.values,
                                              input->tensor.count));
    }
    return complete ? job_calibrate(j, session) : TSR_OK;
}

static const job_input *find_tiled(const job *j) {
    const job_input *input = j->inputs;
    while (!input->tiled)
        input++;
    return input;
}

tsr_status job_set_tile(const job *j, tsr_session *session, int k, const float *picture) {
    const tsr_shape shape = tiling_tile_shape(j->tiling);
    TRY_LIBRARY(tsr_session_set_input(session, find_tiled(j)->info.name,
                                      tiling_cut(j->tiling, k, picture),
                                      (size_t)tsr_shape_count(&shape)));
    return TSR_OK;
}

static tsr_status fetch_tile(const job *j, tsr_session *session, int k) {
    int count = tsr_session_output_count(session);
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        tensor tile;
        TRY_LIBRARY(tsr_session_output(session, i, &info));
        TRY(job_fetch(session, info.name, &info.shape, &tile));
        tiling_paste(j->tiling, i, k, tile.values, tiling_result(j->tiling, i)->values);
        tensor_free(&tile);
    }
    return TSR_OK;
}

tsr_status job_run(const job *j, tsr_session *session) {
    if (!j->tiling) {
        TRY_LIBRARY(tsr_session_run(session));
        return TSR_OK;
    }
    int count = tiling_count(j->tiling);
    TRY(tiling_make_results(j->tiling));
    for (int k = 0; k < count; k++) {
        progress("%s: tile %d of %d", j->path, k + 1, count);
        TRY(job_set_tile(j, session, k, find_tiled(j)->tensor.values));
        if (k == 0)
            TRY(job_calibrate(j, session));
        TRY_LIBRARY(tsr_session_run(session));
        TRY(fetch_tile(j, session, k));
    }
    return TSR_OK;
}

tsr_status job_output(const job *j, tsr_session *session, int index, named_tensor *made) {
    tsr_tensor_info info;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    made->name = info.name;
    if (!j->tiling)
        return job_fetch(session, info.name, &info.shape, &made->tensor);
    const tensor *whole = tiling_result(j->tiling, index);
    TRY(tensor_create(TSR_DTYPE_F32, &whole->shape, &made->tensor));
    memcpy(made->tensor.values, whole->values, whole->count * sizeof *whole->values);
    return TSR_OK;
}

image_side job_side(const job *j) {
    for (int i = 0; i < j->input_count; i++)
        if (j->inputs[i].side.in_width)
            return j->inputs[i].side;
    return (image_side){0};
}

tsr_status job_fetch(tsr_session *session, const char *name, const tsr_shape *shape, tensor *made) {
    TRY(tensor_create(TSR_DTYPE_F32, shape, made));
    tsr_status status = tsr_session_get_output(session, name, made->values, made->count);
    if (status == TSR_OK)
        return TSR_OK;
    tensor_free(made);
    return fail_library(status);
}
