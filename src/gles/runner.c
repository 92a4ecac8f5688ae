#include "gles/runner.h"

#include "algorithm/algorithm.h"

#include "base/allocator.h"
#include "base/error.h"
#include "gles/wait.h"
#include "gpu/texels.h"

#include <math.h>

static bool allocate_runs(tsr_runner *r) {
    r->runs = tsr_calloc((size_t)r->base.options.runs_in_flight, sizeof *r->runs);
    r->run = r->runs;
    bool complete = r->runs;
    for (int i = 0; i < r->base.options.runs_in_flight && complete; i++) {
        r->runs[i].outputs =
            tsr_calloc((size_t)r->base.output_count + 1, sizeof *r->runs[i].outputs);
        complete = r->runs[i].outputs;
    }
    return complete;
}

static tsr_status allocate(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    r->targets = tsr_calloc((size_t)plan->storage_count + 1, sizeof *r->targets);
    r->doubles = tsr_calloc((size_t)plan->tensor_count, sizeof *r->doubles);
    r->constants = tsr_calloc((size_t)plan->tensor_count, sizeof *r->constants);
    r->passes = tsr_calloc((size_t)plan->pass_count + 1, sizeof *r->passes);
    r->inputs = tsr_calloc((size_t)r->base.graph->input_count + 1, sizeof *r->inputs);
    r->outputs = tsr_calloc((size_t)r->base.output_count + 1, sizeof *r->outputs);
    r->drawn = tsr_calloc((size_t)r->base.output_count + 1, sizeof *r->drawn);
    r->pass_ms = tsr_calloc((size_t)plan->pass_count + 1, sizeof *r->pass_ms);
    bool timed = r->base.options.time_passes && r->device->info.has_timer;
    r->timers = timed ? tsr_calloc((size_t)r->base.graph->node_count + 1, sizeof *r->timers) : NULL;
    if (!r->targets || !r->doubles || !r->constants || !r->passes || !r->inputs || !r->outputs ||
        !r->drawn || !r->pass_ms || !allocate_runs(r) || (timed && !r->timers))
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    return TSR_OK;
}

tsr_status tsr_gles_check_runner(const tsr_runner *r, const char *what) {
    TSR_TRY(tsr_gles_check_done(r->device, what));
    if (!tsr_context_is_remote() || r->device->errors == r->errors)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_DEVICE, "%s: meanwhile a GL error was found", what);
}

static tsr_status work(tsr_runner *r, double ms) {
    TSR_TRY(tsr_gles_begin(r->device));
    if (!r->built)
        r->errors = r->device->errors;
    r->built = true;
    tsr_status status = tsr_gles_build(r, ms);
    return tsr_gles_end(r->device, status);
}

/* After a failure no thread writes to the context's memory: it may be gone soon. */
static tsr_status prepare(tsr_runner *r, double ms) {
    tsr_status status = work(r, ms);
    if (status != TSR_OK && status != TSR_NOT_READY)
        tsr_gles_stop_threads(r);
    return status;
}

static tsr_status build(tsr_runner *r) {
    TSR_TRY(allocate(r));
    if (r->base.options.plan_only || r->base.options.prepare_in_steps)
        return TSR_OK;
    return tsr_fail_context(prepare(r, INFINITY), "%s", r->base.graph->file);
}

static void runner_destroy(tsr_runner *r) {
    tsr_gles_stop_threads(r);
    if (r->built && tsr_gles_begin(r->device) == TSR_OK) {
        tsr_gles_unbuild(r);
        tsr_gles_end(r->device, TSR_OK);
    }
    tsr_free(r->targets);
    tsr_free(r->doubles);
    tsr_free(r->constants);
    for (int i = 0; r->passes && i < r->base.plan->pass_count; i++)
        tsr_params_free(&r->passes[i].params);
    for (int i = 0; r->inputs && i < r->base.graph->input_count; i++)
        tsr_params_free(&r->inputs[i].built.params);
    for (int i = 0; r->outputs && i < r->base.output_count; i++)
        tsr_params_free(&r->outputs[i].built.params);
    for (int i = 0; r->drawn && i < r->base.output_count; i++)
        tsr_params_free(&r->drawn[i].built.params);
    tsr_free(r->passes);
    tsr_free(r->inputs);
    tsr_free(r->outputs);
    tsr_free(r->drawn);
    tsr_free(r->pass_ms);
    for (int i = 0; r->runs && i < r->base.options.runs_in_flight; i++)
        tsr_free(r->runs[i].outputs);
    tsr_free(r->runs);
    tsr_free(r->timers);
    tsr_gpu_runner_destroy(&r->base);
    tsr_free(r);
}

static tsr_status runner_create(tsr_backend_device *device, const tsr_graph *graph,
                                const tsr_runner_options *options, tsr_runner **out) {
    tsr_runner *r = tsr_calloc(1, sizeof *r);
    if (!r)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    r->device = device;
    bool half = device->limits.half_only ||
                (options->precision == TSR_PRECISION_FP16 && !device->limits.bits_only);
    tsr_status status = half && !options->plan_only ? tsr_gles_find_rounding(device) : TSR_OK;
    r->building.packing[0].pass = r->building.packing[1].pass = TSR_NONE;
    const tsr_plan_options limits = {.limits = device->limits,
                                     .device = device->profile,
                                     .max_loop_iterations = device->max_loop_iterations,
                                     .block_texels = device->block_texels};
    if (status == TSR_OK)
        status = tsr_gpu_runner_create(&r->base, graph, options, &limits);
    if (status == TSR_OK)
        status = build(r);
    if (status != TSR_OK) {
        runner_destroy(r);
        return status;
    }
    *out = r;
    return TSR_OK;
}

const tsr_target *tsr_gles_target(const tsr_runner *r, int tensor) {
    const tsr_plan_tensor *t = &r->base.plan->tensors[tensor];
    if (tensor == TSR_STAGING_TENSOR)
        return r->staging;
    return t->storage_high == TSR_NONE ? &r->targets[t->storage] : &r->doubles[tensor];
}

static tsr_status give_input(tsr_runner *r, int value, const tsr_elements *from) {
    if (tsr_transfer_converts(r->base.plan, value, from))
        return tsr_gles_transfer_in(r, value, from);
    int tensor = r->base.plan->value_tensor[value];
    float *texels;
    tsr_status status = tsr_gpu_pack_input(&r->base, value, from, &texels);
    if (status == TSR_OK)
        tsr_target_upload(tsr_gles_target(r, tensor), tsr_plan_layout(r->base.plan, tensor),
                          texels);
    tsr_free(texels);
    return status;
}

static tsr_status set_input(tsr_runner *r, int value, const tsr_elements *from) {
    tsr_elements staged;
    float *floats;
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = tsr_gpu_stage_input(&r->base, value, from, &staged, &floats);
    if (status == TSR_OK && r->base.plan->value_tensor[value] != TSR_NONE)
        status = give_input(r, value, &staged);
    tsr_free(floats);
    return tsr_gles_end(r->device, status);
}

static void bind(tsr_runner *r, int value, const tsr_runner *other, int other_value) {
    int storage = tsr_gpu_storage(&r->base, value);
    if (storage != TSR_NONE)
        r->targets[storage] = other->targets[tsr_gpu_storage(&other->base, other_value)];
}

static tsr_status set_weights(tsr_runner *r, int constant, const float *elements) {
    if (!tsr_gpu_only_packs(&r->base, constant))
        return TSR_ERROR_UNSUPPORTED;
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = tsr_gles_replace_weights(r, constant, elements);
    return tsr_gles_end(r->device, status);
}

/* NaN in every tensor but the inputs. */
static void poison(const tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    for (int i = 0; i < plan->pass_count; i++)
        for (int k = 0; k < tsr_pass_count_writes(&plan->passes[i]); k++) {
            int tensor = tsr_pass_written(&plan->passes[i], k);
            tsr_target_poison(tsr_gles_target(r, tensor), tsr_plan_layout(plan, tensor));
        }
}

static tsr_status start_reading(tsr_runner *r) {
    r->latest = r->run;
    for (int i = 0; i < r->base.output_count; i++) {
        r->run->outputs[i].filled = false;
        if (r->outputs[i].ready && !r->base.options.texture_outputs && !r->base.keeps_outputs)
            TSR_TRY(tsr_gles_transfer_out(r, i, &r->run->outputs[i]));
    }
    if (r->run->fence)
        glDeleteSync(r->run->fence);
    r->run->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
    return TSR_OK;
}

static void select_run(tsr_runner *r, int slot) {
    r->run = &r->runs[slot];
}

tsr_status tsr_gles_submit(tsr_runner *r, int begin, int end) {
    if (begin == 0) {
        r->errors = r->device->errors;
        if (r->base.options.poison)
            poison(r);
    }
    return tsr_gles_draw(r, begin, end);
}

static tsr_status submit(tsr_runner *r) {
    const int begin = r->submitted;
    r->submitted = 0;
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = tsr_gles_submit(r, begin, r->base.plan->pass_count);
    if (status == TSR_OK)
        status = start_reading(r);
    return tsr_gles_end(r->device, status);
}

static void read_timers(tsr_runner *r) {
    GLint disjoint = 0;
    glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
    if (disjoint)
        return;
    r->base.gpu_ms = 0;
    for (int i = 0; i < r->base.graph->node_count; i++) {
        GLuint64 nanoseconds = 0;
        if (!glIsQueryEXT(r->timers[i])) /* a node without a pass: its timer never began */
            continue;
        glGetQueryObjectui64vEXT(r->timers[i], GL_QUERY_RESULT_EXT, &nanoseconds);
        r->base.node_ms[i] = (double)nanoseconds * 1e-6;
        r->base.gpu_ms += r->base.node_ms[i];
    }
}

/* Of the selected run. Between begin and end. */
static tsr_status finish(tsr_runner *r, bool block) {
    if (!r->run->fence)
        return TSR_OK;
    tsr_gles_wait result = tsr_gles_wait_fence(r->run->fence, block);
    TSR_TRY(tsr_gles_check_lost(r->device));
    if (result == TSR_GLES_PENDING)
        return TSR_NOT_READY;
    if (result == TSR_GLES_WAIT_FAILED)
        return tsr_gles_check_done(r->device, "waiting for a run");
    glDeleteSync(r->run->fence);
    r->run->fence = NULL;
    if (r->timers)
        read_timers(r);
    return tsr_gles_check_runner(r, "running the model");
}

static tsr_status wait_run(tsr_runner *r) {
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = finish(r, true);
    return tsr_gles_end(r->device, status);
}

static tsr_status poll_run(tsr_runner *r) {
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = finish(r, false);
    return tsr_gles_end(r->device, status);
}

static tsr_status step(tsr_runner *r, bool begin, double ms) {
    TSR_TRY(tsr_gles_begin(r->device));
    if (begin && r->base.options.poison)
        poison(r);
    if (begin)
        r->next_pass = r->submitted = 0;
    tsr_status status = tsr_gles_draw_for(r, ms);
    if (status == TSR_OK)
        status = tsr_gles_check_error(r->device, "running the model");
    bool complete = r->next_pass == r->base.plan->pass_count;
    if (status == TSR_OK && complete) {
        status = start_reading(r);
        status = status == TSR_OK ? finish(r, true) : status;
    }
    return tsr_gles_end(r->device, status == TSR_OK && !complete ? TSR_NOT_READY : status);
}

typedef struct reading {
    const tsr_layout *layout;
    float *data;
} reading;

static tsr_status unpack(void *user, const void *texels) {
    const reading *to = user;
    return tsr_texels_unpack(to->layout, texels, true, to->data);
}

tsr_status tsr_gles_read_now(void *runner, int tensor, float *data) {
    const tsr_runner *r = runner;
    const tsr_layout *l = tsr_plan_layout(r->base.plan, tensor);
    GLuint buffer = tsr_buffer_create(l);
    tsr_target_read(&r->device->bindings, tsr_gles_target(r, tensor), l, buffer, 0);
    reading to = {l, data};
    tsr_status status =
        tsr_gles_read_buffer(buffer, tsr_layout_floats(l) * sizeof(float), unpack, &to);
    glDeleteBuffers(1, &buffer);
    return status;
}

/* Transfers the output anew where it was not transferred in this form; only the latest run's is
 * still there. */
static tsr_status read_output(tsr_runner *r, int output, const tsr_elements *to) {
    tsr_gles_readback *b = &r->run->outputs[output];
    bool filled = b->filled && tsr_elements_same_form(&b->what.elements, to);
    if (!filled && r->run == r->latest) {
        b->filled = false;
        TSR_TRY(tsr_gles_transfer_prepare_out(r, output, to));
        TSR_TRY(tsr_gles_transfer_out(r, output, b));
    } else if (!b->filled)
        return tsr_gpu_fail_earlier(&r->base, output);
    return tsr_gles_readback_copy(r, r->base.outputs[output].value, b, to);
}

static tsr_status read_transferred(void *runner, int output, const tsr_elements *to) {
    return read_output(runner, output, to);
}

static tsr_status read_value(tsr_runner *r, int value, const tsr_elements *to) {
    int output = tsr_gpu_find_output(&r->base, value);
    TSR_TRY(finish(r, true));
    tsr_status status;
    if (output != TSR_NONE && r->base.outputs[output].tensor != TSR_NONE &&
        !r->base.options.texture_outputs)
        status = tsr_gpu_read_output(&r->base, output, to, r->run == r->latest, read_transferred,
                                     tsr_gles_read_now, r);
    else
        status = tsr_gpu_read_kept(&r->base, value, to, tsr_gles_read_now, r);
    TSR_TRY(tsr_gles_check_error(r->device, "reading a result")); /* its message says more */
    return status;
}

static tsr_status get_output(tsr_runner *r, int value, const tsr_elements *to) {
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = read_value(r, value, to);
    return tsr_gles_end(r->device, status);
}

static tsr_status output_texture(tsr_runner *r, int value, tsr_texture *texture) {
    int tensor = r->base.plan->plain_outputs[tsr_gpu_find_output(&r->base, value)];
    const tsr_layout *l = tsr_plan_layout(r->base.plan, tensor);
    TSR_TRY(tsr_context_check_current(r->device->context));
    *texture = (tsr_texture){
        .id = tsr_gles_target(r, tensor)->texture,
        .internal_format = tsr_texel_internal_format(l->format),
        .width = l->w,
        .height = l->h,
        .columns = 1 << l->columns_log2,
        .tiles = l->tiles,
        .texture_width = l->texture_w,
        .texture_height = l->texture_h,
    };
    return TSR_OK;
}

const tsr_backend tsr_gles_backend = {
    .name = "gles",
    .optimizes = true,
    .streams = true,
    .device_create = tsr_gles_device_create,
    .device_destroy = tsr_gles_device_destroy,
    .device_info = tsr_gles_device_info,
    .is_lost = tsr_gles_is_lost,
    .list_devices = tsr_gles_list_devices,
    .measure = tsr_gles_measure,
    .kernel_version = tsr_glsl_hash,
    .runner_create = runner_create,
    .runner_destroy = runner_destroy,
    .prepare = prepare,
    .bind = bind,
    .set_input = set_input,
    .set_input_texture = tsr_gles_set_input_texture,
    .set_weights = set_weights,
    .select_run = select_run,
    .transfer_outputs = tsr_gpu_transfer_outputs,
    .submit = submit,
#ifndef TSR_WITHOUT_GRADIENT /* it is for training */
    .submit_before = tsr_gles_submit_before,
#endif
    .step = step,
    .poll = poll_run,
    .wait = wait_run,
    .draw_output = tsr_gles_draw_output,
    .get_output = get_output,
    .can_read = tsr_gpu_can_read,
    .output_texture = output_texture,
    .report = tsr_gpu_report,
    .node_report = tsr_gpu_node_report,
    .candidates = tsr_gpu_candidates,
};
