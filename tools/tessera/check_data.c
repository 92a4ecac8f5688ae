#include "check.h"
#include "tool.h"

#include <stdlib.h>

void data_set_free(data_set *data) {
    for (int i = 0; data->inputs && i < data->input_count; i++)
        tensor_free(&data->inputs[i]);
    for (int i = 0; data->outputs && i < data->output_count; i++)
        tensor_free(&data->outputs[i]);
    for (int i = 0; data->packed && i < data->input_count; i++)
        free(data->packed[i]);
    free(data->inputs);
    free(data->outputs);
    free(data->packed);
    free(data->infos);
    free(data->shapes);
    free(data->fixed);
}

tsr_status data_set_create(const tsr_model *model, data_set *data) {
    *data = (data_set){.model = model,
                       .input_count = tsr_model_input_count(model),
                       .output_count = tsr_model_output_count(model)};
    size_t inputs = (size_t)data->input_count + 1;
    data->inputs = calloc(inputs, sizeof *data->inputs);
    data->outputs = calloc((size_t)data->output_count + 1, sizeof *data->outputs);
    data->packed = calloc(inputs, sizeof *data->packed);
    data->infos = calloc(inputs, sizeof *data->infos);
    data->shapes = calloc(inputs, sizeof *data->shapes);
    data->fixed = calloc(inputs, sizeof *data->fixed);
    if (data->inputs && data->outputs && data->packed && data->infos && data->shapes && data->fixed)
        return TSR_OK;
    data_set_free(data);
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
}

tsr_status data_set_bind(data_set *data) {
    for (int i = 0; i < data->input_count; i++) {
        tsr_tensor_info *info = &data->infos[i];
        TRY_LIBRARY(tsr_model_input(data->model, i, info));
        if (tsr_model_input_is_parameter(data->model, i))
            TRY(tensor_pack(&data->inputs[i], info->dtype, info->name, &data->packed[i]));
    }
    return TSR_OK;
}

/* ---- one run --------------------------------------------------------------------------------- */

tsr_status data_set_session(const check_place *place, data_set *data, tsr_session **session) {
    tsr_session_desc desc = {.precision = place->precision,
                             .weights = place->weights,
                             .allow_cpu_fallback = place->cpu_fallback,
                             .poison = place->poison,
                             .shapes = data->shapes,
                             .fixed = data->fixed};
    for (int i = 0; i < data->input_count; i++) {
        const tsr_tensor_info *info = &data->infos[i];
        const tsr_shape *shape = &data->inputs[i].shape;
        if (data->packed[i])
            data->fixed[desc.fixed_count++] =
                (tsr_fixed_input){info->name, info->dtype, *shape, data->packed[i]};
        else
            data->shapes[desc.shape_count++] = (tsr_input_shape){info->name, *shape};
    }
    TRY_LIBRARY(tsr_session_create(place->device, data->model, &desc, session));
    return TSR_OK;
}

static tsr_status check_output(const check_place *place, tsr_session *session, int index,
                               const tensor *expected, bool *good) {
    tsr_tensor_info info;
    tensor result;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    *good = shape_equal(&info.shape, &expected->shape);
    if (!*good) {
        fail(TSR_OK, "output '%s' is %s instead of %s", info.name, shape_label(&info.shape).text,
             shape_label(&expected->shape).text);
        return TSR_OK;
    }
    *good = place->types_differ || info.dtype == expected->dtype;
    if (!*good) {
        fail(TSR_OK, "output '%s' is of type %s instead of %s", info.name,
             tsr_dtype_name(info.dtype), tsr_dtype_name(expected->dtype));
        return TSR_OK;
    }
    TRY(tensor_create(TSR_DTYPE_F32, &info.shape, &result));
    tsr_status status = tsr_session_get_output(session, info.name, result.values, result.count);
    if (status != TSR_OK) {
        fail_library(status);
    } else {
        const tolerance exactly = {0};
        difference d = measure(result.values, expected->values, result.count,
                               dtype_is_integer(info.dtype) ? exactly : place->allowed);
        *good = d.failed == 0;
        if (d.failed)
            fail(TSR_OK, "output '%s': %zu of %zu elements differ, worst at %s: %g instead of %g",
                 info.name, d.failed, d.count, position_label(&info.shape, d.worst).text,
                 (double)result.values[d.worst], (double)expected->values[d.worst]);
    }
    tensor_free(&result);
    return status;
}

static tsr_status run_session(const data_set *data, tsr_precision precision, tsr_session *session) {
    for (int i = 0; i < data->input_count; i++)
        if (!data->packed[i])
            TRY_LIBRARY(tsr_session_set_input(session, data->infos[i].name, data->inputs[i].values,
                                              data->inputs[i].count));
    if (precision == TSR_PRECISION_AUTO)
        TRY_LIBRARY(tsr_session_calibrate(session));
    TRY_LIBRARY(tsr_session_run(session));
    return TSR_OK;
}

tsr_status data_set_check(const check_place *place, const data_set *data, tsr_session *session,
                          bool *good) {
    TRY(run_session(data, place->precision, session));
    *good = true;
    for (int i = 0; *good && i < data->output_count; i++)
        TRY(check_output(place, session, i, &data->outputs[i], good));
    return TSR_OK;
}

static tsr_status take_output(tsr_session *session, int index, tensor *taken) {
    tsr_tensor_info info;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    TRY(tensor_create(info.dtype, &info.shape, taken));
    TRY_LIBRARY(tsr_session_get_output(session, info.name, taken->values, taken->count));
    return TSR_OK;
}

tsr_status data_set_take_outputs(data_set *data, tsr_session *session) {
    TRY(run_session(data, TSR_PRECISION_FP32, session));
    for (int i = 0; i < data->output_count; i++)
        TRY(take_output(session, i, &data->outputs[i]));
    return TSR_OK;
}
