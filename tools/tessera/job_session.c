/* Sessions of a job: create, set inputs, read outputs. */
#include "job.h"
#include "tool.h"

#include <stdlib.h>

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

tsr_status job_session(const job *j, tsr_device *device, const tsr_session_desc *extra,
                       tsr_session **session) {
    size_t room = j->input_count ? (size_t)j->input_count : 1;
    tsr_input_shape *shapes = calloc(room, sizeof *shapes);
    tsr_fixed_input *fixed = calloc(room, sizeof *fixed);
    tsr_session_desc desc = *extra;
    desc.precision = (tsr_precision)j->options->precision;
    desc.weights = (tsr_weight_type)j->options->weights;
    desc.allow_cpu_fallback = j->options->cpu_fallback;
    desc.poison = j->options->poison;
    if (!desc.optimizer_passes)
        desc.optimizer_passes = j->options->passes;
    if (j->options->no_tune || j->options->tune_ms)
        desc.tune_ms = j->options->no_tune ? -1 : j->options->tune_ms;
    desc.dims = j->dims;
    desc.dim_count = j->dim_count;
    desc.shapes = shapes;
    desc.fixed = fixed;
    for (int i = 0; shapes && fixed && i < j->input_count; i++) {
        const job_input *input = &j->inputs[i];
        const char *name = input->info.name;
        const tsr_shape *shape = &input->info.shape;
        if (input->packed)
            fixed[desc.fixed_count++] =
                (tsr_fixed_input){name, input->info.dtype, *shape, input->packed};
        else if (input->shaped)
            shapes[desc.shape_count++] = (tsr_input_shape){name, *shape};
    }
    desc.progress = (tsr_progress){progress_of_call, (void *)j->path};
    tsr_status status = shapes && fixed ? tsr_session_create(device, j->model, &desc, session)
                                        : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    progress_clear();
    if (status != TSR_OK && shapes && fixed)
        fail_library(status);
    free(shapes);
    free(fixed);
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
        complete = complete && !input->many;
        if (!input->fixed && !input->many)
            TRY_LIBRARY(tsr_session_set_input(session, input->info.name, input->tensor.values,
                                              input->tensor.count));
    }
    return complete ? job_calibrate(j, session) : TSR_OK;
}

tsr_status job_fetch(tsr_session *session, const char *name, const tsr_shape *shape, tensor *made) {
    TRY(tensor_create(TSR_DTYPE_F32, shape, made));
    tsr_status status = tsr_session_get_output(session, name, made->values, made->count);
    if (status == TSR_OK)
        return TSR_OK;
    tensor_free(made);
    return fail_library(status);
}
