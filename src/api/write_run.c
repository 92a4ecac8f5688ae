#include "api/write_run.h"

#include "api/model.h"
#include "base/error.h"
#include "passes/edit.h"

#include <stdio.h>
#include <string.h>

/* A model and what its inputs are in the run that is next. */
typedef struct run {
    const tsr_model *model;
    const tsr_write_desc *desc;
    const tsr_write_reader *reader;
    int input_count;
    tsr_fixed_input *inputs;
    tsr_session *session;
} run;

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Inputs that have to be constant are fixed, the others give their shapes. */
static bool is_parameter(const tsr_model *model, const char *name) {
    const tsr_graph *graph = model->graph;
    for (int i = 0; i < graph->input_count; i++)
        if (strcmp(graph->values[graph->inputs[i]].name, name) == 0)
            return model->is_parameter[graph->inputs[i]];
    return false;
}

static tsr_status give_inputs(const run *r) {
    for (int i = 0; i < r->input_count; i++) {
        const tsr_fixed_input *input = &r->inputs[i];
        const tsr_array array = {.data = (void *)input->data,
                                 .count = (size_t)tsr_shape_count(&input->shape),
                                 .dtype = input->dtype};
        if (!is_parameter(r->model, input->input))
            TSR_TRY(tsr_session_set_input_array(r->session, input->input, &array));
    }
    return TSR_OK;
}

const char *tsr_write_sample_name(const tsr_write_desc *desc, int sample, char number[32]) {
    if (desc->sample_names)
        return desc->sample_names[sample];
    snprintf(number, 32, "sample %d", sample);
    return number;
}

static tsr_status check_sample(const run *r, const tsr_fixed_input *first, int sample) {
    char number[32];
    for (int i = 0; i < r->input_count; i++)
        if (!tsr_shape_equal(&r->inputs[i].shape, &first[i].shape))
            return tsr_fail(TSR_ERROR_SHAPE, "%s: input '%s' is %s, and was %s before",
                            tsr_write_sample_name(r->desc, sample, number), r->inputs[i].input,
                            tsr_shape_text(&r->inputs[i].shape), tsr_shape_text(&first[i].shape));
    return TSR_OK;
}

static tsr_status load_sample(run *r, int sample) {
    char number[32];
    for (int i = 0; i < r->input_count; i++)
        r->inputs[i] =
            (tsr_fixed_input){.input = r->model->graph->values[r->model->graph->inputs[i]].name};
    tsr_status status = r->desc->sample(r->desc->sample_user, sample, r->inputs);
    return status == TSR_OK ? TSR_OK
                            : tsr_fail(status, "%s: the program lacks its inputs",
                                       tsr_write_sample_name(r->desc, sample, number));
}

static tsr_status take_inputs(run *r) {
    bool samples = r->desc->sample_count > 0;
    r->input_count = samples ? r->model->graph->input_count : r->desc->input_count;
    r->inputs = TSR_NEW(r->model->graph->arena, r->input_count, tsr_fixed_input);
    if (!r->inputs)
        return tsr_out_of_memory(r->model->graph);
    if (samples)
        return load_sample(r, 0);
    if (r->input_count)
        memcpy(r->inputs, r->desc->inputs, (size_t)r->input_count * sizeof *r->inputs);
    return TSR_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static tsr_status run_once(const run *r) {
    TSR_TRY(give_inputs(r));
    TSR_TRY(tsr_session_run(r->session));
    return r->reader->read(r->reader->user, r->session, r->inputs);
}

/* A failure names the sample. */
static tsr_status run_sample(run *r, const tsr_fixed_input *first, int sample) {
    char number[32];
    if (sample)
        TSR_TRY(load_sample(r, sample));
    TSR_TRY(check_sample(r, first, sample));
    tsr_status status = run_once(r);
    return status == TSR_OK
               ? tsr_progress_report(r->reader->meter, r->reader->what, sample + 1,
                                     r->desc->sample_count)
               : tsr_fail_context(status, "%s", tsr_write_sample_name(r->desc, sample, number));
}

static tsr_status run_all(run *r) {
    if (!r->desc->sample_count)
        return run_once(r);
    tsr_fixed_input *first = TSR_NEW(r->model->graph->arena, r->input_count, tsr_fixed_input);
    if (!first)
        return tsr_out_of_memory(r->model->graph);
    if (r->input_count)
        memcpy(first, r->inputs, (size_t)r->input_count * sizeof *first);
    for (int sample = 0; sample < r->desc->sample_count; sample++)
        TSR_TRY(run_sample(r, first, sample));
    return TSR_OK;
}

static tsr_status run_session(tsr_device *device, run *r) {
    tsr_arena *arena = r->model->graph->arena;
    TSR_TRY(take_inputs(r));
    tsr_fixed_input *fixed = TSR_NEW(arena, r->input_count, tsr_fixed_input);
    tsr_input_shape *shapes = TSR_NEW(arena, r->input_count, tsr_input_shape);
    tsr_session_desc how = {.fixed = fixed, .shapes = shapes};
    if (!fixed || !shapes)
        return tsr_out_of_memory(r->model->graph);
    if (!r->desc->sample_count)
        how.progress = r->desc->progress;
    for (int i = 0; i < r->input_count; i++) {
        const tsr_fixed_input *input = &r->inputs[i];
        if (is_parameter(r->model, input->input))
            fixed[how.fixed_count++] = *input;
        else
            shapes[how.shape_count++] = (tsr_input_shape){input->input, input->shape};
    }
    TSR_TRY(tsr_session_create(device, r->model, &how, &r->session));
    tsr_status status = run_all(r);
    tsr_session_destroy(r->session);
    return status;
}

static tsr_status run_model(const tsr_model *model, const tsr_write_desc *desc,
                            const tsr_write_reader *reader) {
    tsr_device *device;
    run r = {.model = model, .desc = desc, .reader = reader};
    TSR_TRY(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device));
    tsr_status status = run_session(device, &r);
    tsr_device_destroy(device);
    return status;
}

tsr_status tsr_write_run(tsr_graph *graph, const tsr_write_desc *desc,
                         const tsr_write_reader *reader) {
    tsr_model *model;
    graph->is_exported = false;
    tsr_status status = tsr_model_of_graph(graph, &model);
    if (status != TSR_OK) {
        tsr_graph_destroy(graph);
        return status;
    }
    status = run_model(model, desc, reader);
    tsr_model_free(model);
    return status;
}
