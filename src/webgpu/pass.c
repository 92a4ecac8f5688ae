/* The passes of a run. */
#include "webgpu/runner.h"

#include "base/clock.h"
#include "base/error.h"

/* What is being encoded; nothing while encoder is NULL. */
typedef struct recording {
    tsr_runner *runner;
    WGPUCommandEncoder encoder;
    WGPUComputePassEncoder pass;
    int dispatches;
} recording;

static const tsr_wgpu *api_of(const recording *c) {
    return c->runner->device->api;
}

static void begin(recording *c) {
    if (!c->encoder)
        c->encoder = api_of(c)->DeviceCreateCommandEncoder(c->runner->device->device, NULL);
}

static void begin_pass(recording *c, const WGPUPassTimestampWrites *timestamps) {
    begin(c);
    const WGPUComputePassDescriptor desc = {.timestampWrites = timestamps};
    if (!c->pass)
        c->pass = api_of(c)->CommandEncoderBeginComputePass(c->encoder, &desc);
}

static void end_pass(recording *c) {
    if (!c->pass)
        return;
    api_of(c)->ComputePassEncoderEnd(c->pass);
    api_of(c)->ComputePassEncoderRelease(c->pass);
    c->pass = NULL;
}

static void submit(recording *c) {
    end_pass(c);
    if (!c->encoder)
        return;
    tsr_webgpu_submit(c->runner->device, c->encoder);
    c->encoder = NULL;
    c->dispatches = 0;
}

static void dispatch(recording *c, int index) {
    const tsr_webgpu_pass *p = &c->runner->passes[index];
    begin_pass(c, NULL);
    api_of(c)->ComputePassEncoderSetPipeline(c->pass, p->pipeline->pipeline);
    api_of(c)->ComputePassEncoderSetBindGroup(c->pass, 0, p->group, 0, NULL);
    api_of(c)->ComputePassEncoderDispatchWorkgroups(c->pass, p->groups[0], p->groups[1],
                                                    p->groups[2]);
    c->dispatches++;
}

static void upload(const tsr_runner *r, const tsr_pass *pass) {
    const tsr_layout *l = tsr_plan_layout(r->base.plan, pass->output);
    tsr_layout_pack(l, tsr_fallback_floats(&r->base.fallback, pass->value), 0, r->base.staging);
    tsr_tensor_write(r->device, tsr_webgpu_buffer(r, pass->output), l, r->base.staging);
}

static tsr_status run_passes(recording *c, int begin, int end) {
    tsr_runner *r = c->runner;
    for (int i = begin; i < end; i++) {
        const tsr_pass *pass = &r->base.plan->passes[i];
        if (pass->kind == TSR_PASS_DRAW) {
            dispatch(c, i);
            continue;
        }
        submit(c); /* the queue executes later writes after it */
        if (pass->kind == TSR_PASS_UPLOAD)
            upload(r, pass);
        else
            TSR_TRY(
                tsr_fallback_run(&r->base.fallback, pass, r->base.staging, tsr_webgpu_read_now, r));
    }
    return TSR_OK;
}

/* Only dispatches can be in a single compute pass. */
static bool only_dispatches(const tsr_plan *plan, int first, int end) {
    for (int i = first; i < end; i++)
        if (plan->passes[i].kind != TSR_PASS_DRAW)
            return false;
    return true;
}

/* A node's time by timestamps, or without them by the clock. */
static tsr_status run_timed(recording *c, int node, int first, int end) {
    tsr_runner *r = c->runner;
    if (r->timestamps && only_dispatches(r->base.plan, first, end)) {
        const WGPUPassTimestampWrites timestamps = {.querySet = r->timestamps,
                                                    .beginningOfPassWriteIndex = 2 * (uint32_t)node,
                                                    .endOfPassWriteIndex = 2 * (uint32_t)node + 1};
        end_pass(c);
        begin_pass(c, &timestamps);
        TSR_TRY(run_passes(c, first, end));
        end_pass(c);
        return TSR_OK;
    }
    submit(c);
    TSR_TRY(tsr_webgpu_finish(r->device));
    double start = tsr_clock_ms();
    TSR_TRY(run_passes(c, first, end));
    submit(c);
    TSR_TRY(tsr_webgpu_finish(r->device));
    r->base.node_ms[node] = tsr_clock_ms() - start;
    return TSR_OK;
}

/* A command buffer is submitted when it has this many dispatches, so that the GPU starts while the
 * next ones are encoded; only between nodes, since a node's timestamps are those of one compute
 * pass. A run of 88 dispatches took 0.72 ms on an H100; 0.77 with 8 in a command buffer, 0.79 with
 * 32, 1.0 with all in one. */
enum { SUBMITTED_DISPATCHES = 16 };

static tsr_status run_nodes(recording *c) {
    const tsr_plan *plan = c->runner->base.plan;
    for (int first = 0, end; first < plan->pass_count; first = end) {
        int node = plan->passes[first].node;
        end = first + 1;
        while (end < plan->pass_count && plan->passes[end].node == node)
            end++;
        bool timed = c->runner->base.options.time_passes && node != TSR_NONE;
        if (c->dispatches >= SUBMITTED_DISPATCHES)
            submit(c);
        TSR_TRY(timed ? run_timed(c, node, first, end) : run_passes(c, first, end));
    }
    return TSR_OK;
}

static void copy_outputs(recording *c) {
    tsr_runner *r = c->runner;
    begin(c);
    end_pass(c);
    for (int i = 0; i < r->base.output_count; i++)
        if (r->outputs[i].ready && !r->base.keeps_outputs)
            tsr_webgpu_transfer_out(r, i, c->encoder, &r->run[i]);
    if (!r->timestamps)
        return;
    api_of(c)->CommandEncoderResolveQuerySet(c->encoder, r->timestamps, 0,
                                             (uint32_t)(r->times.bytes / sizeof(uint64_t)),
                                             r->resolved, 0);
    api_of(c)->CommandEncoderCopyBufferToBuffer(c->encoder, r->resolved, 0, r->times.buffer, 0,
                                                r->times.bytes);
}

tsr_status tsr_webgpu_dispatch(tsr_runner *r) {
    recording c = {.runner = r};
    tsr_status status = run_nodes(&c);
    if (status == TSR_OK)
        copy_outputs(&c);
    submit(&c);
    return status;
}
