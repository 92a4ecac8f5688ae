#include "webgpu/transfer.h"

#include "base/error.h"
#include "webgpu/runner.h"

#include <string.h>

/* Buffers' sizes are multiples of this. */
enum { WORD = 4 };

static uint64_t whole_words(size_t bytes) {
    return ((uint64_t)bytes + WORD - 1) / WORD * WORD;
}

/* ---- programs and buffers -------------------------------------------------------------------- */

/* The program of this form: one of the latest, or a new one in place of the oldest. */
static tsr_status find_pipeline(tsr_runner *r, tsr_webgpu_transfer *t, const tsr_transfer *wanted,
                                tsr_pipeline **pipeline) {
    tsr_webgpu_pass made = {0};
    for (int i = 0; i < TSR_TRANSFER_FORMS; i++)
        if (t->forms[i].pipeline && tsr_transfer_same_program(&t->forms[i].what, wanted)) {
            *pipeline = t->forms[i].pipeline;
            return TSR_OK;
        }
    tsr_webgpu_form *form = &t->forms[t->next_form];
    tsr_status status = tsr_webgpu_start_pipeline(r, &wanted->pass, &made);
    tsr_params_free(&made.params);
    TSR_TRY(status);
    if (form->pipeline)
        tsr_pipeline_release(r->device, form->pipeline);
    form->what = *wanted;
    form->pipeline = *pipeline = made.pipeline;
    t->next_form = (t->next_form + 1) % TSR_TRANSFER_FORMS;
    return TSR_OK;
}

static tsr_status prepare_pipeline(tsr_runner *r, tsr_webgpu_transfer *t, tsr_transfer *wanted) {
    wanted->pass.args = wanted->args;
    TSR_TRY(find_pipeline(r, t, wanted, &t->built.pipeline));
    t->what = *wanted;
    t->what.pass.args = t->what.args;
    tsr_params_free(&t->built.params);
    return tsr_params_make(r->base.plan, &t->what.pass, &t->built.params);
}

/* A new buffer where the one that there is has another size. */
static bool resize(tsr_runner *r, WGPUBuffer *buffer, uint64_t *had, WGPUBufferUsage usage,
                   uint64_t bytes) {
    if (*buffer && *had == bytes)
        return false;
    tsr_buffer_destroy(r->device, *buffer);
    *buffer = tsr_buffer_make(r->device, usage, bytes);
    r->base.allocated_bytes += bytes - *had;
    *had = bytes;
    return true;
}

static void write_params(const tsr_runner *r, const tsr_webgpu_transfer *t) {
    const tsr_params *p = &t->built.params;
    size_t ints = (size_t)p->int_count * sizeof *p->ints;
    r->device->api->QueueWriteBuffer(r->device->queue, t->params, 0, p->ints, ints);
    r->device->api->QueueWriteBuffer(r->device->queue, t->params, ints, p->floats,
                                     (size_t)p->float_count * sizeof *p->floats);
}

static bool same_form(const tsr_webgpu_transfer *t, const tsr_transfer *wanted) {
    return t->ready && tsr_elements_same_form(&t->what.elements, &wanted->elements) &&
           (!wanted->elements.is_pixels ||
            t->what.elements.pixels.stride == wanted->elements.pixels.stride);
}

static tsr_status fail_memory(uint64_t bytes) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for a transfer",
                    (unsigned long long)bytes);
}

/* All but the group. */
static tsr_status prepare_pass(tsr_runner *r, tsr_webgpu_transfer *t, tsr_transfer *wanted) {
    t->ready = false;
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = wanted->staging;
    TSR_TRY(prepare_pipeline(r, t, wanted));
    const tsr_params *p = &t->built.params;
    uint64_t params = (uint64_t)p->int_count * 4 + (uint64_t)p->float_count * 4;
    resize(r, &t->params, &t->params_bytes, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst,
           params);
    if (!t->params)
        return fail_memory(params);
    write_params(r, t);
    tsr_webgpu_set_groups(r->base.plan, &t->what.pass, t->built.groups);
    return TSR_OK;
}

/* The pass reads or writes this. */
static WGPUBindGroup bind(tsr_runner *r, const tsr_webgpu_transfer *t, tsr_webgpu_range range) {
    r->staging = range;
    return tsr_webgpu_make_group(r, &t->what.pass, &t->built, t->params, range);
}

static tsr_status prepare(tsr_runner *r, tsr_webgpu_transfer *t, tsr_transfer *wanted) {
    if (same_form(t, wanted))
        return TSR_OK;
    TSR_TRY(prepare_pass(r, t, wanted));
    resize(r, &t->staging, &t->staging_bytes,
           WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst,
           tsr_layout_bytes(&wanted->staging));
    if (!t->staging)
        return fail_memory(t->staging_bytes);
    if (t->built.group)
        r->device->api->BindGroupRelease(t->built.group);
    t->built.group = bind(r, t, (tsr_webgpu_range){t->staging, 0, t->staging_bytes});
    t->ready = true;
    return TSR_OK;
}

void tsr_webgpu_transfer_destroy(tsr_runner *r, tsr_webgpu_transfer *t) {
    if (t->built.group)
        r->device->api->BindGroupRelease(t->built.group);
    for (int i = 0; i < TSR_TRANSFER_FORMS; i++)
        if (t->forms[i].pipeline)
            tsr_pipeline_release(r->device, t->forms[i].pipeline);
    for (int i = 0; i < 2; i++)
        tsr_mapping_destroy(r->device, &t->uploads[i]);
    tsr_buffer_destroy(r->device, t->staging);
    tsr_buffer_destroy(r->device, t->params);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void dispatch(const tsr_runner *r, const tsr_webgpu_transfer *t,
                     WGPUCommandEncoder encoder) {
    const tsr_wgpu *api = r->device->api;
    const tsr_webgpu_pass *p = &t->built;
    WGPUComputePassEncoder pass = api->CommandEncoderBeginComputePass(encoder, NULL);
    api->ComputePassEncoderSetPipeline(pass, p->pipeline->pipeline);
    api->ComputePassEncoderSetBindGroup(pass, 0, p->group, 0, NULL);
    api->ComputePassEncoderDispatchWorkgroups(pass, p->groups[0], p->groups[1], p->groups[2]);
    api->ComputePassEncoderEnd(pass);
    api->ComputePassEncoderRelease(pass);
}

static tsr_status upload(tsr_runner *r, tsr_webgpu_transfer *t, const void *data, size_t bytes) {
    const tsr_wgpu *api = r->device->api;
    tsr_mapping *m = &t->uploads[t->next_upload];
    void *mapped;
    t->next_upload = 1 - t->next_upload;
    r->base.allocated_bytes -= m->bytes;
    tsr_status status = tsr_mapping_write(r->device, m, t->staging_bytes, &mapped);
    r->base.allocated_bytes += m->bytes;
    TSR_TRY(status);
    memcpy(mapped, data, bytes);
    tsr_mapping_reset(r->device, m);
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(r->device->device, NULL);
    api->CommandEncoderCopyBufferToBuffer(encoder, m->buffer, 0, t->staging, 0, whole_words(bytes));
    dispatch(r, t, encoder);
    tsr_webgpu_submit(r->device, encoder);
    tsr_mapping_start(r->device, m, WGPUMapMode_Write);
    return TSR_OK;
}

tsr_status tsr_webgpu_transfer_in(tsr_runner *r, int value, const tsr_elements *from) {
    tsr_transfer wanted;
    tsr_webgpu_transfer *t = &r->inputs[tsr_gpu_find_input(&r->base, value)];
    const void *data = from->is_pixels ? from->pixels.data : from->array.data;
    TSR_TRY(tsr_transfer_in(r->base.plan, value, from, &wanted));
    TSR_TRY(prepare(r, t, &wanted));
    if (!data) /* when the session is made: its program compiles meanwhile */
        return TSR_OK;
    TSR_TRY(tsr_pipeline_finish(r->device, t->built.pipeline, &t->what.pass, UINT64_MAX));
    return upload(r, t, data, tsr_transfer_bytes(from));
}

/* ---- outputs --------------------------------------------------------------------------------- */

tsr_status tsr_webgpu_transfer_prepare_out(tsr_runner *r, int output, const tsr_elements *to) {
    tsr_transfer wanted;
    TSR_TRY(tsr_transfer_out(r->base.plan, r->base.outputs[output].value, to, &wanted));
    return prepare(r, &r->outputs[output], &wanted);
}

tsr_status tsr_webgpu_readback_prepare(tsr_runner *r, int output, tsr_webgpu_readback *to) {
    const tsr_webgpu_transfer *t = &r->outputs[output];
    uint64_t bytes = t->staging_bytes;
    TSR_TRY(tsr_pipeline_finish(r->device, t->built.pipeline, &t->what.pass, UINT64_MAX));
    if (to->mapping.bytes == bytes) {
        tsr_mapping_reset(r->device, &to->mapping);
        return TSR_OK;
    }
    r->base.allocated_bytes += bytes - to->mapping.bytes;
    tsr_mapping_destroy(r->device, &to->mapping);
    to->mapping.buffer = tsr_buffer_readback(r->device, bytes);
    to->mapping.bytes = to->mapping.buffer ? bytes : 0;
    return to->mapping.buffer
               ? TSR_OK
               : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for a result",
                          (unsigned long long)bytes);
}

void tsr_webgpu_transfer_out(tsr_runner *r, int output, WGPUCommandEncoder encoder,
                             tsr_webgpu_readback *to) {
    const tsr_webgpu_transfer *t = &r->outputs[output];
    dispatch(r, t, encoder);
    r->device->api->CommandEncoderCopyBufferToBuffer(encoder, t->staging, 0, to->mapping.buffer, 0,
                                                     t->staging_bytes);
    to->what = t->what;
    to->filled = true;
}

tsr_status tsr_webgpu_readback_copy(const tsr_runner *r, int value, const tsr_webgpu_readback *from,
                                    const tsr_elements *to) {
    const void *dense = r->device->api->BufferGetConstMappedRange(from->mapping.buffer, 0,
                                                                  (size_t)from->mapping.bytes);
    if (!dense)
        return tsr_fail(TSR_ERROR_DEVICE, "a result's buffer has no mapped range");
    return tsr_transfer_read(&from->what, &r->base.graph->values[value], dense, to);
}

/* ---- buffers of the caller's ----------------------------------------------------------------- */

static tsr_elements form_of(const tsr_buffer *b) {
    return (tsr_elements){
        .array = {.count = b->count, .dtype = b->dtype, .channels_last = b->channels_last}};
}

static tsr_status use_buffer(tsr_runner *r, tsr_webgpu_transfer *t, tsr_transfer *wanted,
                             const tsr_buffer *b) {
    const tsr_wgpu *api = r->device->api;
    if (!same_form(t, wanted))
        TSR_TRY(prepare_pass(r, t, wanted));
    t->ready = true;
    TSR_TRY(tsr_pipeline_finish(r->device, t->built.pipeline, &t->what.pass, UINT64_MAX));
    t->built.group = bind(r, t, (tsr_webgpu_range){b->buffer, b->offset, b->bytes});
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(r->device->device, NULL);
    dispatch(r, t, encoder);
    tsr_webgpu_submit(r->device, encoder);
    api->BindGroupRelease(t->built.group);
    t->built.group = NULL;
    return TSR_OK;
}

tsr_status tsr_webgpu_transfer_buffer_in(tsr_runner *r, int value, const tsr_buffer *from) {
    tsr_transfer wanted;
    const tsr_elements form = form_of(from);
    TSR_TRY(tsr_transfer_in(r->base.plan, value, &form, &wanted));
    return use_buffer(r, &r->buffers_in[tsr_gpu_find_input(&r->base, value)], &wanted, from);
}

tsr_status tsr_webgpu_transfer_buffer_out(tsr_runner *r, int output, const tsr_buffer *to) {
    tsr_transfer wanted;
    const tsr_elements form = form_of(to);
    TSR_TRY(tsr_transfer_out(r->base.plan, r->base.outputs[output].value, &form, &wanted));
    return use_buffer(r, &r->buffers_out[output], &wanted, to);
}

/* ---- textures of the caller's ---------------------------------------------------------------- */

static void copy_to_texture(const tsr_runner *r, const tsr_webgpu_transfer *t,
                            WGPUCommandEncoder encoder, const tsr_draw_target *target) {
    const WGPUTexelCopyBufferInfo from = {.buffer = t->staging,
                                          .layout = {.bytesPerRow = (uint32_t)t->what.staging.w * 4,
                                                     .rowsPerImage = (uint32_t)target->height}};
    const WGPUTexelCopyTextureInfo to = {
        .texture = target->wgpu_texture,
        .origin = {.x = (uint32_t)target->x, .y = (uint32_t)target->y},
        .aspect = WGPUTextureAspect_All};
    const WGPUExtent3D size = {(uint32_t)target->width, (uint32_t)target->height, 1};
    r->device->api->CommandEncoderCopyBufferToTexture(encoder, &from, &to, &size);
}

tsr_status tsr_webgpu_transfer_draw(tsr_runner *r, int output, const tsr_pixels *pixels,
                                    const tsr_draw_target *target) {
    tsr_transfer wanted;
    tsr_webgpu_transfer *t = &r->drawn[output];
    TSR_TRY(tsr_transfer_draw_staged(r->base.plan, r->base.outputs[output].value, pixels, &wanted));
    TSR_TRY(prepare(r, t, &wanted));
    TSR_TRY(tsr_pipeline_finish(r->device, t->built.pipeline, &t->what.pass, UINT64_MAX));
    WGPUCommandEncoder encoder =
        r->device->api->DeviceCreateCommandEncoder(r->device->device, NULL);
    dispatch(r, t, encoder);
    copy_to_texture(r, t, encoder, target);
    tsr_webgpu_submit(r->device, encoder);
    return TSR_OK;
}
