#include "webgpu/runner.h"

#include "algorithm/algorithm.h"

#include "base/allocator.h"
#include "base/error.h"
#include "gpu/texels.h"

/* ---- futures --------------------------------------------------------------------------------- */

static void note_done(WGPUQueueWorkDoneStatus status, WGPUStringView message, void *user,
                      void *unused) {
    (void)status, (void)message, (void)user, (void)unused; /* callers check for a lost device */
}

tsr_status tsr_webgpu_finish(tsr_backend_device *d) {
    const WGPUQueueWorkDoneCallbackInfo callback = {.mode = WGPUCallbackMode_WaitAnyOnly,
                                                    .callback = note_done};
    return tsr_webgpu_wait(d, d->api->QueueOnSubmittedWorkDone(d->queue, callback), UINT64_MAX,
                           NULL);
}

int tsr_webgpu_readback_count(const tsr_runner *r) {
    return r->base.options.runs_in_flight * r->base.output_count;
}

/* ---- making a runner ------------------------------------------------------------------------- */

static tsr_status allocate(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    r->storages = tsr_calloc((size_t)plan->storage_count + 1, sizeof *r->storages);
    r->bound = tsr_calloc((size_t)plan->storage_count + 1, sizeof *r->bound);
    r->constants = tsr_calloc((size_t)plan->tensor_count, sizeof *r->constants);
    r->passes = tsr_calloc((size_t)plan->pass_count + 1, sizeof *r->passes);
    r->readbacks = tsr_calloc((size_t)tsr_webgpu_readback_count(r) + 1, sizeof *r->readbacks);
    r->run = r->latest = r->readbacks;
    r->inputs = tsr_calloc((size_t)r->base.graph->input_count + 1, sizeof *r->inputs);
    r->outputs = tsr_calloc((size_t)r->base.output_count + 1, sizeof *r->outputs);
    r->buffers_in = tsr_calloc((size_t)r->base.graph->input_count + 1, sizeof *r->buffers_in);
    r->buffers_out = tsr_calloc((size_t)r->base.output_count + 1, sizeof *r->buffers_out);
    r->drawn = tsr_calloc((size_t)r->base.output_count + 1, sizeof *r->drawn);
    if (!r->storages || !r->bound || !r->constants || !r->passes || !r->readbacks || !r->inputs ||
        !r->outputs || !r->buffers_in || !r->buffers_out || !r->drawn)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    return TSR_OK;
}

static tsr_status build(tsr_runner *r) {
    TSR_TRY(allocate(r));
    if (r->base.options.plan_only)
        return TSR_OK;
    r->built = true;
    return r->base.options.prepare_in_steps
               ? TSR_OK
               : tsr_fail_context(tsr_webgpu_build(r), "%s", r->base.graph->file);
}

static void free_transfers(tsr_webgpu_transfer *list, int count) {
    for (int i = 0; list && i < count; i++)
        tsr_params_free(&list[i].built.params);
    tsr_free(list);
}

static void runner_destroy(tsr_runner *r) {
    if (r->built)
        tsr_webgpu_unbuild(r);
    tsr_free(r->storages);
    tsr_free(r->bound);
    tsr_free(r->constants);
    for (int i = 0; r->passes && i < r->base.plan->pass_count; i++)
        tsr_params_free(&r->passes[i].params);
    free_transfers(r->inputs, r->base.graph->input_count);
    free_transfers(r->buffers_in, r->base.graph->input_count);
    free_transfers(r->outputs, r->base.output_count);
    free_transfers(r->buffers_out, r->base.output_count);
    free_transfers(r->drawn, r->base.output_count);
    tsr_free(r->passes);
    tsr_free(r->readbacks);
    tsr_gpu_runner_destroy(&r->base);
    tsr_free(r);
}

static tsr_status runner_create(tsr_backend_device *device, const tsr_graph *graph,
                                const tsr_runner_options *options, tsr_runner **out) {
    if (options->texture_outputs)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "the webgpu backend has no GL textures to put outputs in");
    tsr_runner *r = tsr_calloc(1, sizeof *r);
    if (!r)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    r->device = device;
    r->serial = ++device->runner_count;
    const tsr_plan_options limits = {
        .limits = {.max_planes = 1, .max_buffer_bytes = device->info.max_buffer_bytes},
        .device = device->profile,
        .max_sources = TSR_WEBGPU_SOURCES};
    tsr_status status = tsr_gpu_runner_create(&r->base, graph, options, &limits);
    if (status == TSR_OK)
        status = build(r);
    if (status != TSR_OK) {
        runner_destroy(r);
        return status;
    }
    *out = r;
    return TSR_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

WGPUBuffer tsr_webgpu_buffer(const tsr_runner *r, int tensor) {
    const tsr_plan_tensor *t = &r->base.plan->tensors[tensor];
    return t->constant ? r->constants[tensor] : r->storages[t->storage];
}

/* A small input is packed on the CPU: a pass for it takes 50 microseconds on an H100. */
bool tsr_webgpu_converts(const tsr_runner *r, int value, const tsr_elements *from) {
    enum { FEW_BYTES = 256 };
    const tsr_plan *plan = r->base.plan;
    if (!tsr_transfer_converts(plan, value, from))
        return false;
    return from->is_pixels ||
           tsr_layout_bytes(tsr_plan_layout(plan, plan->value_tensor[value])) > FEW_BYTES;
}

static tsr_status give_input(tsr_runner *r, int value, const tsr_elements *from) {
    if (tsr_webgpu_converts(r, value, from))
        return tsr_webgpu_transfer_in(r, value, from);
    int tensor = r->base.plan->value_tensor[value];
    float *texels;
    tsr_status status = tsr_gpu_pack_input(&r->base, value, from, &texels);
    if (status == TSR_OK)
        tsr_tensor_write(r->device, tsr_webgpu_buffer(r, tensor),
                         tsr_plan_layout(r->base.plan, tensor), texels);
    tsr_free(texels);
    return status;
}

/* A buffer's handle may be that of one that is gone: runners are told apart by their serials. */
static void bind(tsr_runner *r, int value, const tsr_runner *other, int other_value) {
    int storage = tsr_gpu_storage(&r->base, value);
    if (storage == TSR_NONE || r->bound[storage] == other->serial)
        return;
    r->storages[storage] = other->storages[tsr_gpu_storage(&other->base, other_value)];
    r->bound[storage] = other->serial;
    r->groups_outdated = true;
}

static void update_groups(tsr_runner *r) {
    for (int i = 0; r->groups_outdated && i < r->base.plan->pass_count; i++)
        if (r->base.plan->passes[i].kind == TSR_PASS_DRAW)
            tsr_webgpu_bind_pass(r, i);
    r->groups_outdated = false;
}

static tsr_status set_input(tsr_runner *r, int value, const tsr_elements *from) {
    tsr_elements staged;
    float *floats;
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    tsr_webgpu_enter(r->device);
    tsr_status status = tsr_gpu_stage_input(&r->base, value, from, &staged, &floats);
    if (status == TSR_OK && r->base.plan->value_tensor[value] != TSR_NONE)
        status = give_input(r, value, &staged);
    tsr_free(floats);
    return tsr_webgpu_leave(r->device, status, "setting an input");
}

static tsr_status check_form(const tsr_runner *r, int value, const tsr_buffer *b) {
    const tsr_elements form = {.array = {.dtype = b->dtype, .channels_last = b->channels_last}};
    return tsr_transfer_converts(r->base.plan, value, &form)
               ? TSR_OK
               : tsr_fail(TSR_ERROR_UNSUPPORTED,
                          "the GPU has other channels than the second axis: they cannot be last");
}

static tsr_status set_input_buffer(tsr_runner *r, int value, const tsr_buffer *from) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    if (r->base.plan->value_tensor[value] == TSR_NONE) /* nothing reads it */
        return TSR_OK;
    TSR_TRY(check_form(r, value, from));
    tsr_webgpu_push_errors(r->device);
    tsr_status status = tsr_webgpu_transfer_buffer_in(r, value, from);
    tsr_status errors = tsr_webgpu_pop_errors(r->device, "reading the buffer");
    return errors != TSR_OK ? errors : status;
}

static tsr_status get_output_buffer(tsr_runner *r, int value, const tsr_buffer *to) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    if (r->base.plan->value_tensor[value] == TSR_NONE)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a node computed it on the CPU");
    TSR_TRY(check_form(r, value, to));
    tsr_webgpu_push_errors(r->device);
    tsr_status status = tsr_webgpu_transfer_buffer_out(r, tsr_gpu_find_output(&r->base, value), to);
    tsr_status errors = tsr_webgpu_pop_errors(r->device, "writing the buffer");
    return errors != TSR_OK ? errors : status;
}

static tsr_status draw_output(tsr_runner *r, int value, const tsr_pixels *pixels,
                              const tsr_draw_target *to) {
    int output = tsr_gpu_find_output(&r->base, value);
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    if (output == TSR_NONE || r->base.outputs[output].tensor == TSR_NONE)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "no pass writes it");
    if (!to->wgpu_texture || to->texture || to->framebuffer || to->flip)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "on webgpu a target is a wgpu_texture, neither GL's nor flipped");
    if (r->run != r->latest)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "only the latest run's outputs can be drawn");
    tsr_webgpu_push_errors(r->device);
    tsr_status status = tsr_webgpu_transfer_draw(r, output, pixels, to);
    tsr_status errors = tsr_webgpu_pop_errors(r->device, "drawing an output");
    return errors != TSR_OK ? errors : status;
}

/* NaN in every tensor but the inputs. */
static tsr_status poison(const tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    for (int i = 0; i < plan->pass_count; i++)
        for (int k = 0; k < tsr_pass_count_writes(&plan->passes[i]); k++) {
            int tensor = tsr_pass_written(&plan->passes[i], k);
            const tsr_layout *l = tsr_plan_layout(plan, tensor);
            TSR_TRY(tsr_buffer_poison(r->device, tsr_webgpu_buffer(r, tensor), tsr_tensor_offset(l),
                                      tsr_layout_bytes(l)));
        }
    return TSR_OK;
}

static void select_run(tsr_runner *r, int slot) {
    r->run = r->readbacks + slot * r->base.output_count;
}

static tsr_status start(tsr_runner *r) {
    for (int i = 0; i < r->base.output_count; i++)
        r->run[i].filled = false;
    for (int i = 0; i < r->base.output_count; i++)
        if (r->outputs[i].ready && !r->base.keeps_outputs)
            TSR_TRY(tsr_webgpu_readback_prepare(r, i, &r->run[i]));
    r->latest = r->run;
    update_groups(r);
    tsr_mapping_reset(r->device, &r->times);
    if (r->base.options.poison)
        TSR_TRY(poison(r));
    TSR_TRY(tsr_webgpu_dispatch(r));
    for (int i = 0; i < r->base.output_count; i++)
        if (r->run[i].filled)
            tsr_mapping_start(r->device, &r->run[i].mapping, WGPUMapMode_Read);
    tsr_mapping_start(r->device, &r->times, WGPUMapMode_Read);
    r->times_read = false;
    return TSR_OK;
}

static tsr_status submit(tsr_runner *r) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    tsr_webgpu_enter(r->device);
    return tsr_webgpu_leave(r->device, start(r), "running the model");
}

/* Sets the nodes' times from the timestamps, which are in nanoseconds. */
static void read_times(tsr_runner *r) {
    const uint64_t *times =
        r->device->api->BufferGetConstMappedRange(r->times.buffer, 0, (size_t)r->times.bytes);
    uint64_t first = UINT64_MAX, last = 0;
    for (int i = 0; times && i < r->base.graph->node_count; i++) {
        uint64_t begin = times[2 * i], end = times[2 * i + 1];
        if (!begin || end < begin) /* a node without a pass */
            continue;
        r->base.node_ms[i] = (double)(end - begin) * 1e-6;
        first = begin < first ? begin : first;
        last = end > last ? end : last;
    }
    if (last > first)
        r->base.gpu_ms = (double)(last - first) * 1e-6;
}

static tsr_status finish(tsr_runner *r, uint64_t timeout) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    for (int i = 0; i < r->base.output_count; i++)
        TSR_TRY(tsr_mapping_finish(r->device, &r->run[i].mapping, timeout));
    TSR_TRY(tsr_mapping_finish(r->device, &r->times, timeout));
    if (r->times.mapped && !r->times_read)
        read_times(r);
    r->times_read = true;
    return tsr_webgpu_check_error(r->device, "running the model");
}

static tsr_status wait_run(tsr_runner *r) {
    return finish(r, UINT64_MAX);
}

static tsr_status poll_run(tsr_runner *r) {
    return finish(r, 0);
}

static tsr_status read_mapped(const tsr_runner *r, const tsr_mapping *b, int tensor, float *data) {
    const void *bytes = r->device->api->BufferGetConstMappedRange(b->buffer, 0, (size_t)b->bytes);
    if (!bytes)
        return tsr_fail(TSR_ERROR_DEVICE, "a result's buffer has no mapped range");
    return tsr_texels_unpack(tsr_plan_layout(r->base.plan, tensor), bytes, false, data);
}

static void copy_now(tsr_runner *r, int tensor, const tsr_mapping *to) {
    const tsr_wgpu *api = r->device->api;
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(r->device->device, NULL);
    api->CommandEncoderCopyBufferToBuffer(encoder, tsr_webgpu_buffer(r, tensor),
                                          tsr_tensor_offset(tsr_plan_layout(r->base.plan, tensor)),
                                          to->buffer, 0, to->bytes);
    tsr_webgpu_submit(r->device, encoder);
}

tsr_status tsr_webgpu_read_now(void *runner, int tensor, float *data) {
    tsr_runner *r = runner;
    tsr_mapping once = {.bytes = tsr_layout_bytes(tsr_plan_layout(r->base.plan, tensor))};
    once.buffer = tsr_buffer_readback(r->device, once.bytes);
    copy_now(r, tensor, &once);
    tsr_mapping_start(r->device, &once, WGPUMapMode_Read);
    tsr_status status = tsr_mapping_finish(r->device, &once, UINT64_MAX);
    if (status == TSR_OK)
        status = read_mapped(r, &once, tensor, data);
    tsr_mapping_destroy(r->device, &once);
    return status;
}

/* Transfers the output anew where it was not transferred in this form; only the latest run's is
 * still there. */
static tsr_status read_output(tsr_runner *r, int output, const tsr_elements *to) {
    tsr_webgpu_readback *b = &r->run[output];
    bool filled = b->filled && tsr_elements_same_form(&b->what.elements, to);
    if (!filled && r->run == r->latest) {
        b->filled = false;
        TSR_TRY(tsr_webgpu_transfer_prepare_out(r, output, to));
        TSR_TRY(tsr_webgpu_readback_prepare(r, output, b));
        WGPUCommandEncoder encoder =
            r->device->api->DeviceCreateCommandEncoder(r->device->device, NULL);
        tsr_webgpu_transfer_out(r, output, encoder, b);
        tsr_webgpu_submit(r->device, encoder);
        tsr_mapping_start(r->device, &b->mapping, WGPUMapMode_Read);
        TSR_TRY(tsr_mapping_finish(r->device, &b->mapping, UINT64_MAX));
        TSR_TRY(tsr_webgpu_check_error(r->device, "reading a result"));
    } else if (!b->filled) {
        return tsr_gpu_fail_earlier(&r->base, output);
    }
    return tsr_webgpu_readback_copy(r, r->base.outputs[output].value, b, to);
}

static tsr_status read_transferred(void *runner, int output, const tsr_elements *to) {
    return read_output(runner, output, to);
}

static tsr_status get_output(tsr_runner *r, int value, const tsr_elements *to) {
    int output = tsr_gpu_find_output(&r->base, value);
    TSR_TRY(finish(r, UINT64_MAX));
    tsr_webgpu_enter(r->device);
    tsr_status status = output != TSR_NONE && r->base.outputs[output].tensor != TSR_NONE
                            ? tsr_gpu_read_output(&r->base, output, to, r->run == r->latest,
                                                  read_transferred, tsr_webgpu_read_now, r)
                            : tsr_gpu_read_kept(&r->base, value, to, tsr_webgpu_read_now, r);
    return tsr_webgpu_leave(r->device, status, "reading a result");
}

static tsr_status set_weights(tsr_runner *r, int constant, const float *elements) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    return tsr_gpu_only_packs(&r->base, constant)
               ? tsr_webgpu_replace_weights(r, constant, elements)
               : TSR_ERROR_UNSUPPORTED;
}

const tsr_backend tsr_webgpu_backend = {
    .name = "webgpu",
    .optimizes = true,
    .streams = true,
    .device_create = tsr_webgpu_device_create,
    .device_destroy = tsr_webgpu_device_destroy,
    .device_info = tsr_webgpu_device_info,
    .is_lost = tsr_webgpu_is_lost,
    .list_devices = tsr_webgpu_list_devices,
    .measure = tsr_webgpu_measure,
    .kernel_version = tsr_wgsl_hash,
    .runner_create = runner_create,
    .runner_destroy = runner_destroy,
    .prepare = tsr_webgpu_prepare,
    .bind = bind,
    .set_input = set_input,
    .set_input_buffer = set_input_buffer,
    .draw_output = draw_output,
    .get_output_buffer = get_output_buffer,
    .select_run = select_run,
    .transfer_outputs = tsr_gpu_transfer_outputs,
    .set_weights = set_weights,
    .submit = submit,
    .poll = poll_run,
    .wait = wait_run,
    .get_output = get_output,
    .can_read = tsr_gpu_can_read,
    .report = tsr_gpu_report,
    .node_report = tsr_gpu_node_report,
    .candidates = tsr_gpu_candidates,
};
