/* Creates and destroys a runner's WebGPU objects. */
#include "webgpu/runner.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "webgpu/shader.h"

#include <string.h>

enum { PARAMS_ALIGNMENT = 256 }; /* WebGPU's largest minUniformBufferOffsetAlignment */

tsr_status tsr_webgpu_start_pipeline(tsr_runner *r, const tsr_pass *pass, tsr_webgpu_pass *built) {
    const tsr_plan *plan = r->base.plan;
    tsr_program_text text;
    TSR_TRY(tsr_params_make(plan, pass, &built->params));
    tsr_status status = tsr_wgsl_start(plan, pass, &built->params, &text);
    if (status == TSR_OK)
        status = tsr_pipeline_acquire(r->device, &text, &built->pipeline);
    tsr_program_text_free(&text);
    return status;
}

static tsr_status finish_pipeline(tsr_runner *r, int pass) {
    return tsr_pipeline_finish(r->device, r->passes[pass].pipeline, &r->base.plan->passes[pass]);
}

/* All programs are started before waiting for the first: they compile in parallel, while weights
 * are packed. */
static tsr_status start_programs(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    double start = tsr_clock_ms();
    tsr_progress_stage(r->base.options.progress, TSR_COMPILING_SHARE);
    for (int i = 0; i < plan->pass_count; i++) {
        TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
        if (plan->passes[i].kind != TSR_PASS_DRAW)
            continue;
        TSR_TRY(tsr_gpu_name_node(&r->base, &plan->passes[i],
                                  tsr_webgpu_start_pipeline(r, &plan->passes[i], &r->passes[i])));
        tsr_gpu_count_program(&r->base, i, r->passes[i].pipeline);
    }
    r->base.compile_ms = tsr_clock_ms() - start;
    return TSR_OK;
}

static tsr_status finish_programs(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    double start = tsr_clock_ms();
    tsr_progress_stage(r->base.options.progress, 1);
    for (int i = 0; i < plan->pass_count; i++) {
        TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
        if (plan->passes[i].kind == TSR_PASS_DRAW)
            TSR_TRY(tsr_gpu_name_node(&r->base, &plan->passes[i], finish_pipeline(r, i)));
    }
    TSR_TRY(tsr_gpu_report_compiling(&r->base, plan->pass_count));
    r->base.compile_ms += tsr_clock_ms() - start;
    return TSR_OK;
}

static uint64_t storage_bytes(const tsr_storage *s) {
    return (uint64_t)s->texture_w * 16;
}

static tsr_status build_storages(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    for (int i = 0; i < plan->storage_count; i++) {
        r->storages[i] = tsr_buffer_storage(r->device, storage_bytes(&plan->storages[i]));
        if (r->base.options.poison && r->storages[i])
            TSR_TRY(
                tsr_buffer_poison(r->device, r->storages[i], 0, storage_bytes(&plan->storages[i])));
    }
    r->base.allocated_bytes += plan->tensor_bytes;
    return TSR_OK;
}

static size_t params_bytes(const tsr_params *p) {
    return (size_t)p->int_count * sizeof *p->ints + (size_t)p->float_count * sizeof *p->floats;
}

static uint64_t params_stride(const tsr_params *p) {
    return (params_bytes(p) + PARAMS_ALIGNMENT - 1) / PARAMS_ALIGNMENT * PARAMS_ALIGNMENT;
}

static void write_params(const tsr_params *p, char *bytes) {
    size_t ints = (size_t)p->int_count * sizeof *p->ints;
    memcpy(bytes, p->ints, ints);
    memcpy(bytes + ints, p->floats, (size_t)p->float_count * sizeof *p->floats);
}

static void bind_range(tsr_webgpu_range range, WGPUBindGroupEntry *e) {
    e->buffer = range.buffer;
    e->offset = range.offset;
    e->size = range.bytes;
}

static void bind_tensor(const tsr_runner *r, int tensor, WGPUBindGroupEntry *e) {
    const tsr_layout *l = tsr_plan_layout(r->base.plan, tensor);
    if (tensor == TSR_STAGING_TENSOR)
        bind_range(r->staging, e);
    else
        bind_range((tsr_webgpu_range){tsr_webgpu_buffer(r, tensor), tsr_tensor_offset(l),
                                      tsr_layout_bytes(l)},
                   e);
}

WGPUBindGroup tsr_webgpu_make_group(const tsr_runner *r, const tsr_pass *pass,
                                    const tsr_webgpu_pass *built, WGPUBuffer params,
                                    tsr_webgpu_range table) {
    WGPUBindGroupEntry entries[TSR_WEBGPU_BUFFERS + 1];
    memset(entries, 0, sizeof entries);
    size_t count = 0;
    for (int binding = 0; binding < TSR_BIND_SOURCES + pass->source_count; binding++) {
        if (binding == TSR_BIND_TABLE && !pass->kernel->table)
            continue;
        WGPUBindGroupEntry *e = &entries[count++];
        e->binding = (uint32_t)binding;
        if (binding == TSR_BIND_PARAMS)
            bind_range((tsr_webgpu_range){params, built->params_at, params_bytes(&built->params)},
                       e);
        else if (binding == TSR_BIND_TABLE)
            bind_range(table, e);
        else if (binding == TSR_BIND_OUTPUT)
            bind_tensor(r, pass->output, e);
        else
            bind_tensor(r, pass->sources[binding - TSR_BIND_SOURCES], e);
    }
    const WGPUBindGroupDescriptor desc = {
        .layout = built->pipeline->layout, .entryCount = count, .entries = entries};
    return r->device->api->DeviceCreateBindGroup(r->device->device, &desc);
}

void tsr_webgpu_bind_pass(tsr_runner *r, int i) {
    tsr_webgpu_pass *p = &r->passes[i];
    const tsr_webgpu_range table = {.buffer = p->weights ? p->weights->handle.object : NULL,
                                    .bytes = WGPU_WHOLE_SIZE};
    if (p->group)
        r->device->api->BindGroupRelease(p->group);
    p->group = tsr_webgpu_make_group(r, &r->base.plan->passes[i], p, r->params, table);
}

void tsr_webgpu_set_groups(const tsr_plan *plan, const tsr_pass *pass, uint32_t groups[3]) {
    tsr_pass folded = *pass;
    const tsr_layout *l = tsr_plan_layout(plan, pass->output);
    if (!folded.groups[0])
        tsr_pass_groups(&folded, ((int64_t)l->texture_w + 63) / 64);
    for (int i = 0; i < 3; i++)
        groups[i] = (uint32_t)folded.groups[i];
}

static tsr_status build_groups(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    uint64_t bytes = PARAMS_ALIGNMENT, at = 0;
    void *params;
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind == TSR_PASS_DRAW)
            bytes += params_stride(&r->passes[i].params);
    r->params = tsr_buffer_mapped(r->device, WGPUBufferUsage_Uniform, bytes, &params);
    if (!params)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for parameters",
                        (unsigned long long)bytes);
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (pass->kind != TSR_PASS_DRAW)
            continue;
        write_params(&r->passes[i].params, (char *)params + at);
        r->passes[i].params_at = at;
        tsr_webgpu_bind_pass(r, i);
        tsr_webgpu_set_groups(plan, pass, r->passes[i].groups);
        at += params_stride(&r->passes[i].params);
    }
    r->device->api->BufferUnmap(r->params);
    return TSR_OK;
}

/* For arrays of floats: other forms are prepared when they are used. */
static tsr_status build_transfers(tsr_runner *r) {
    const tsr_graph *graph = r->base.graph;
    int index = r->base.plan->pass_count;
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_elements floats = tsr_gpu_floats_of(&r->base, graph->inputs[i]);
        if (!tsr_transfer_converts(r->base.plan, graph->inputs[i], &floats))
            continue;
        TSR_TRY(tsr_webgpu_transfer_in(r, graph->inputs[i], &floats));
        tsr_gpu_count_program(&r->base, index++, r->inputs[i].built.pipeline);
    }
    for (int i = 0; i < r->base.output_count; i++) {
        const tsr_elements floats = tsr_gpu_floats_of(&r->base, r->base.outputs[i].value);
        if (!tsr_gpu_transfers_output(&r->base, i, &floats))
            continue;
        TSR_TRY(tsr_webgpu_transfer_prepare_out(r, i, &floats));
        tsr_gpu_count_program(&r->base, index++, r->outputs[i].built.pipeline);
    }
    return TSR_OK;
}

static void build_timestamps(tsr_runner *r) {
    uint32_t count = 2 * (uint32_t)r->base.graph->node_count;
    if (!r->base.options.time_passes || !r->device->info.has_timer || !count || count > 4096)
        return; /* WebGPU's largest query set has 4096 */
    const WGPUQuerySetDescriptor desc = {.type = WGPUQueryType_Timestamp, .count = count};
    r->timestamps = r->device->api->DeviceCreateQuerySet(r->device->device, &desc);
    r->times.bytes = count * sizeof(uint64_t);
    const WGPUBufferDescriptor resolved = {
        .usage = WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc, .size = r->times.bytes};
    r->resolved = r->device->api->DeviceCreateBuffer(r->device->device, &resolved);
    r->times.buffer = tsr_buffer_readback(r->device, r->times.bytes);
}

static tsr_status build_objects(tsr_runner *r) {
    TSR_TRY(build_storages(r));
    TSR_TRY(tsr_webgpu_pack_constants(r));
    TSR_TRY(build_groups(r));
    TSR_TRY(build_transfers(r));
    build_timestamps(r);
    return tsr_gpu_runner_allocate(&r->base);
}

tsr_status tsr_webgpu_build(tsr_runner *r) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    TSR_TRY(start_programs(r));
    tsr_webgpu_push_errors(r->device);
    tsr_status built = build_objects(r);
    tsr_status errors = tsr_webgpu_pop_errors(r->device, "preparing the session");
    TSR_TRY(errors != TSR_OK ? errors : built); /* their message says more */
    return finish_programs(r);
}

void tsr_webgpu_unbuild(tsr_runner *r) {
    const tsr_wgpu *api = r->device->api;
    for (int i = 0; i < tsr_webgpu_readback_count(r); i++)
        tsr_mapping_destroy(r->device, &r->readbacks[i].mapping);
    for (int i = 0; i < r->base.graph->input_count; i++) {
        tsr_webgpu_transfer_destroy(r, &r->inputs[i]);
        tsr_webgpu_transfer_destroy(r, &r->buffers_in[i]);
    }
    for (int i = 0; i < r->base.output_count; i++) {
        tsr_webgpu_transfer_destroy(r, &r->outputs[i]);
        tsr_webgpu_transfer_destroy(r, &r->buffers_out[i]);
    }
    tsr_mapping_destroy(r->device, &r->times);
    tsr_buffer_destroy(r->device, r->resolved);
    if (r->timestamps) {
        api->QuerySetDestroy(r->timestamps);
        api->QuerySetRelease(r->timestamps);
    }
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        if (r->passes[i].group)
            api->BindGroupRelease(r->passes[i].group);
        tsr_webgpu_release_weights(r, i);
        if (r->passes[i].pipeline)
            tsr_pipeline_release(r->device, r->passes[i].pipeline);
    }
    for (int i = 0; i < r->base.plan->storage_count; i++)
        tsr_buffer_destroy(r->device, r->storages[i]);
    for (int i = 0; i < r->base.plan->tensor_count; i++)
        tsr_buffer_destroy(r->device, r->constants[i]);
    tsr_buffer_destroy(r->device, r->params);
}
