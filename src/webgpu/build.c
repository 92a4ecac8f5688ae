/* Creates and destroys a runner's WebGPU objects. */
#include "webgpu/runner.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "webgpu/shader.h"

#include <math.h>
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

/* ---- programs -------------------------------------------------------------------------------- */

static tsr_status begin_programs(tsr_runner *r, int unit) {
    (void)unit;
    tsr_progress_stage(r->base.options.progress, TSR_COMPILING_SHARE);
    r->building.compiling_since = tsr_clock_ms();
    return TSR_OK;
}

static tsr_status start_program(tsr_runner *r, int i) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
    if (pass->kind != TSR_PASS_DRAW)
        return TSR_OK;
    TSR_TRY(tsr_gpu_name_node(&r->base, pass, tsr_webgpu_start_pipeline(r, pass, &r->passes[i])));
    tsr_gpu_count_program(&r->base, i, r->passes[i].pipeline);
    return TSR_OK;
}

static tsr_status stop_clock(tsr_runner *r, int unit) {
    (void)unit;
    r->base.compile_ms += tsr_clock_ms() - r->building.compiling_since;
    return TSR_OK;
}

static tsr_status begin_waiting(tsr_runner *r, int unit) {
    (void)unit;
    tsr_progress_stage(r->base.options.progress, 1);
    r->building.compiling_since = tsr_clock_ms();
    return TSR_OK;
}

static tsr_status finish_program(tsr_runner *r, int i) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
    if (pass->kind != TSR_PASS_DRAW)
        return TSR_OK;
    tsr_status status =
        tsr_pipeline_finish(r->device, r->passes[i].pipeline, pass, tsr_webgpu_build_timeout(r));
    return status == TSR_NOT_READY ? status : tsr_gpu_name_node(&r->base, pass, status);
}

static tsr_status report_programs(tsr_runner *r, int unit) {
    (void)unit;
    return tsr_gpu_report_compiling(&r->base, r->base.plan->pass_count);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static uint64_t storage_bytes(const tsr_storage *s) {
    return (uint64_t)s->texture_w * 16;
}

static tsr_status build_storage(tsr_runner *r, int i) {
    if (tsr_gpu_is_bound(&r->base, i))
        return TSR_OK;
    uint64_t bytes = storage_bytes(&r->base.plan->storages[i]);
    r->storages[i] = tsr_buffer_storage(r->device, bytes);
    return r->base.options.poison && r->storages[i]
               ? tsr_buffer_poison(r->device, r->storages[i], 0, bytes)
               : TSR_OK;
}

static tsr_status begin_packing(tsr_runner *r, int unit) {
    (void)unit;
    r->base.allocated_bytes += tsr_gpu_tensor_bytes(&r->base);
    tsr_progress_stage(r->base.options.progress, TSR_PACKING_SHARE);
    return tsr_webgpu_acquire_tables(r);
}

static tsr_status pack_table(tsr_runner *r, int i) {
    TSR_TRY(tsr_gpu_report_packing(&r->base, i));
    return tsr_webgpu_pack_table(r, i);
}

static tsr_status end_packing(tsr_runner *r, int unit) {
    (void)unit;
    tsr_webgpu_end_packing(r);
    return TSR_OK;
}

static tsr_status end_constants(tsr_runner *r, int unit) {
    (void)unit;
    r->base.allocated_bytes += r->base.plan->constant_bytes;
    return tsr_gpu_report_packing(&r->base, r->base.plan->pass_count);
}

/* ---- bind groups ----------------------------------------------------------------------------- */

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

static tsr_webgpu_range range_of(const tsr_runner *r, int tensor) {
    const tsr_layout *l = tsr_plan_layout(r->base.plan, tensor);
    return tensor == TSR_STAGING_TENSOR
               ? r->staging
               : (tsr_webgpu_range){tsr_webgpu_buffer(r, tensor), tsr_tensor_offset(l),
                                    tsr_layout_bytes(l)};
}

static tsr_webgpu_range table_of(const tsr_runner *r, const tsr_pass *pass,
                                 const tsr_webgpu_pass *p) {
    if (pass->table.tensor)
        return range_of(r, pass->table.tensor);
    return (tsr_webgpu_range){.buffer = p->weights ? p->weights->handle.object : NULL,
                              .bytes = WGPU_WHOLE_SIZE};
}

WGPUBindGroup tsr_webgpu_make_group(const tsr_runner *r, const tsr_pass *pass,
                                    const tsr_webgpu_pass *built, WGPUBuffer params,
                                    tsr_webgpu_range table) {
    WGPUBindGroupEntry entries[TSR_WEBGPU_BUFFERS + 1];
    memset(entries, 0, sizeof entries);
    size_t count = 0;
    const int more = TSR_BIND_SOURCES + pass->source_count;
    for (int binding = 0; binding < more + pass->more_count; binding++) {
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
            bind_range(range_of(r, pass->output), e);
        else if (binding >= more)
            bind_range(range_of(r, pass->more[binding - more]), e);
        else
            bind_range(range_of(r, pass->sources[binding - TSR_BIND_SOURCES]), e);
    }
    const WGPUBindGroupDescriptor desc = {
        .layout = built->pipeline->layout, .entryCount = count, .entries = entries};
    return r->device->api->DeviceCreateBindGroup(r->device->device, &desc);
}

void tsr_webgpu_bind_pass(tsr_runner *r, int i) {
    tsr_webgpu_pass *p = &r->passes[i];
    const tsr_webgpu_range table = table_of(r, &r->base.plan->passes[i], p);
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

static tsr_status begin_groups(tsr_runner *r, int unit) {
    (void)unit;
    const tsr_plan *plan = r->base.plan;
    uint64_t bytes = PARAMS_ALIGNMENT;
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind == TSR_PASS_DRAW)
            bytes += params_stride(&r->passes[i].params);
    r->params =
        tsr_buffer_make(r->device, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, bytes);
    r->building.params = tsr_calloc((size_t)bytes, 1);
    return r->params && r->building.params
               ? TSR_OK
               : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for parameters",
                          (unsigned long long)bytes);
}

static tsr_status build_group(tsr_runner *r, int i) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    tsr_webgpu_pass *p = &r->passes[i];
    if (pass->kind != TSR_PASS_DRAW)
        return TSR_OK;
    p->params_at = r->building.params_at;
    write_params(&p->params, r->building.params + p->params_at);
    if (!r->base.options.bound_tensors) /* else once they are bound */
        tsr_webgpu_bind_pass(r, i);
    tsr_webgpu_set_groups(r->base.plan, pass, p->groups);
    r->building.params_at += params_stride(&p->params);
    return TSR_OK;
}

static void free_params(tsr_runner *r) {
    tsr_free(r->building.params);
    r->building.params = NULL;
}

static tsr_status end_groups(tsr_runner *r, int unit) {
    (void)unit;
    r->device->api->QueueWriteBuffer(r->device->queue, r->params, 0, r->building.params,
                                     (size_t)r->building.params_at);
    free_params(r);
    return TSR_OK;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void count_transfer(tsr_runner *r, int index, const tsr_webgpu_transfer *t) {
    tsr_gpu_count_program(&r->base, r->base.plan->pass_count + index, t->built.pipeline);
}

/* For arrays of floats: other forms are prepared when they are used. */
static tsr_status build_input(tsr_runner *r, int i) {
    int value = r->base.graph->inputs[i];
    const tsr_elements floats = tsr_gpu_floats_of(&r->base, value);
    if (r->base.options.separate_tensors || !tsr_webgpu_converts(r, value, &floats))
        return TSR_OK;
    TSR_TRY(tsr_webgpu_transfer_in(r, value, &floats));
    count_transfer(r, i, &r->inputs[i]);
    return TSR_OK;
}

static tsr_status build_output(tsr_runner *r, int i) {
    const tsr_elements floats = tsr_gpu_floats_of(&r->base, r->base.outputs[i].value);
    if (r->base.options.separate_tensors || !tsr_gpu_transfers_output(&r->base, i, &floats))
        return TSR_OK;
    TSR_TRY(tsr_webgpu_transfer_prepare_out(r, i, &floats));
    count_transfer(r, r->base.graph->input_count + i, &r->outputs[i]);
    return TSR_OK;
}

/* Where nothing may be waited for, a run must find them complete. */
static tsr_status finish_transfer(tsr_runner *r, const tsr_webgpu_transfer *t) {
    return t->ready && r->base.options.prepare_in_steps
               ? tsr_pipeline_finish(r->device, t->built.pipeline, &t->what.pass,
                                     tsr_webgpu_build_timeout(r))
               : TSR_OK;
}

static tsr_status finish_input(tsr_runner *r, int i) {
    return finish_transfer(r, &r->inputs[i]);
}

static tsr_status finish_output(tsr_runner *r, int i) {
    return finish_transfer(r, &r->outputs[i]);
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

static tsr_status build_rest(tsr_runner *r, int unit) {
    (void)unit;
    build_timestamps(r);
    return tsr_gpu_runner_allocate(&r->base);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* All programs are started before waiting for the first, so that they compile in parallel, while
 * weights are packed. */
static tsr_status work(tsr_runner *r, double ms) {
    const tsr_plan *plan = r->base.plan;
    const int inputs = r->base.graph->input_count, outputs = r->base.output_count;
    const tsr_gpu_phase phases[] = {
        {begin_programs, 1},
        {start_program, plan->pass_count},
        {stop_clock, 1},
        {build_storage, plan->storage_count},
        {begin_packing, 1},
        {pack_table, plan->pass_count},
        {end_packing, 1},
        {tsr_webgpu_build_constant, plan->tensor_count},
        {end_constants, 1},
        {begin_groups, 1},
        {build_group, plan->pass_count},
        {end_groups, 1},
        {build_input, inputs},
        {build_output, outputs},
        {build_rest, 1},
        {begin_waiting, 1},
        {finish_program, plan->pass_count},
        {finish_input, inputs},
        {finish_output, outputs},
        {stop_clock, 1},
        {report_programs, 1},
    };
    return tsr_gpu_work(r, phases, sizeof phases / sizeof *phases, &r->building.steps, ms);
}

/* In error scopes: they are a stack, which a page's own code may use, too, between steps. */
static tsr_status step(tsr_runner *r, double ms) {
    tsr_webgpu_push_errors(r->device);
    tsr_status status = work(r, ms);
    tsr_webgpu_start_pop(r->device, &r->building.errors);
    r->building.complete = status == TSR_OK;
    return status;
}

static tsr_status finish_step(tsr_runner *r, uint64_t timeout) {
    return tsr_webgpu_finish_pop(r->device, &r->building.errors, "preparing the session", timeout);
}

tsr_status tsr_webgpu_build(tsr_runner *r) {
    TSR_TRY(tsr_webgpu_check_lost(r->device));
    tsr_status built = step(r, INFINITY);
    tsr_status errors = finish_step(r, UINT64_MAX);
    return errors != TSR_OK ? errors : built; /* their message says more */
}

tsr_status tsr_webgpu_prepare(tsr_runner *r, double ms) {
    TSR_TRY(finish_step(r, 0));
    if (r->building.complete)
        return TSR_OK;
    tsr_status status = step(r, ms);
    return status == TSR_OK ? TSR_NOT_READY : status;
}

void tsr_webgpu_unbuild(tsr_runner *r) {
    const tsr_wgpu *api = r->device->api;
    tsr_webgpu_abandon_pop(r->device, &r->building.errors);
    tsr_webgpu_stop_packing(r);
    free_params(r);
    for (int i = 0; i < tsr_webgpu_readback_count(r); i++)
        tsr_mapping_destroy(r->device, &r->readbacks[i].mapping);
    for (int i = 0; i < r->base.graph->input_count; i++) {
        tsr_webgpu_transfer_destroy(r, &r->inputs[i]);
        tsr_webgpu_transfer_destroy(r, &r->buffers_in[i]);
    }
    for (int i = 0; i < r->base.output_count; i++) {
        tsr_webgpu_transfer_destroy(r, &r->outputs[i]);
        tsr_webgpu_transfer_destroy(r, &r->buffers_out[i]);
        tsr_webgpu_transfer_destroy(r, &r->drawn[i]);
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
        if (!tsr_gpu_is_bound(&r->base, i))
            tsr_buffer_destroy(r->device, r->storages[i]);
    for (int i = 0; i < r->base.plan->tensor_count; i++)
        tsr_buffer_destroy(r->device, r->constants[i]);
    tsr_buffer_destroy(r->device, r->params);
}
