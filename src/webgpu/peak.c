/* The device's own multiply-add rate in compute: what shares of peak are shares of. */
#include "webgpu/runner.h"
#include "webgpu/template.h"

#include "base/clock.h"
#include "base/error.h"

/* A quarter of a million invocations keep a large GPU busy; a CPU runs them in milliseconds. */
enum { GROUPS = 4096, GROUP = 64, INVOCATION_FLOPS = 64 * 8 * 3 * 4 * 2, SAMPLES = 7 };

typedef struct peak {
    tsr_backend_device *device;
    tsr_pipeline *pipeline;
    WGPUBuffer line, output;
    WGPUBindGroup group;
} peak;

static tsr_status timed_dispatches(const peak *p, int count, double *ms) {
    const tsr_wgpu *api = p->device->api;
    double start = tsr_clock_ms();
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(p->device->device, NULL);
    WGPUComputePassEncoder pass = api->CommandEncoderBeginComputePass(encoder, NULL);
    api->ComputePassEncoderSetPipeline(pass, p->pipeline->pipeline);
    api->ComputePassEncoderSetBindGroup(pass, 0, p->group, 0, NULL);
    for (int i = 0; i < count; i++)
        api->ComputePassEncoderDispatchWorkgroups(pass, GROUPS, 1, 1);
    api->ComputePassEncoderEnd(pass);
    api->ComputePassEncoderRelease(pass);
    WGPUCommandBuffer commands = api->CommandEncoderFinish(encoder, NULL);
    api->QueueSubmit(p->device->queue, 1, &commands);
    api->CommandBufferRelease(commands);
    api->CommandEncoderRelease(encoder);
    tsr_status status = tsr_webgpu_finish(p->device);
    *ms = tsr_clock_ms() - start;
    return status;
}

/* GFLOP/s: the best of several samples of at least 30 ms, after one that warms up. */
static tsr_status measure(const peak *p, double *gflops) {
    double once, ms;
    TSR_TRY(timed_dispatches(p, 1, &once));
    TSR_TRY(timed_dispatches(p, 1, &once));
    int count = once > 30 ? 1 : (int)(30 / (once + 0.02)) + 1;
    *gflops = 0;
    for (int i = 0; i < SAMPLES; i++) {
        TSR_TRY(timed_dispatches(p, count, &ms));
        double rate = (double)count * GROUPS * GROUP * INVOCATION_FLOPS / ms * 1e-6;
        *gflops = rate > *gflops ? rate : *gflops;
    }
    return TSR_OK;
}

static tsr_status compile(peak *p) {
    static const tsr_template_name none[] = {{NULL, 0}};
    const tsr_pass pass = {.kernel = "peak"};
    tsr_text text = {0};
    TSR_TRY(tsr_template_expand(&text, tsr_template_find("peak"), none));
    char *chars = tsr_text_take(&text);
    if (!chars)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory to measure the peak");
    TSR_TRY(tsr_pipeline_acquire(p->device, chars, &pass, &p->pipeline));
    return tsr_pipeline_finish(p->device, p->pipeline, &pass);
}

static tsr_status bind(peak *p) {
    const tsr_wgpu *api = p->device->api;
    const uint64_t line_bytes = 4 * sizeof(float), bytes = (uint64_t)GROUPS * GROUP * 16;
    void *line;
    p->line = tsr_buffer_mapped(p->device, WGPUBufferUsage_Uniform, line_bytes, &line);
    p->output = tsr_buffer_storage(p->device, bytes);
    if (!line || !p->output)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no buffer to measure the peak");
    ((float *)line)[0] = 0.5f;
    ((float *)line)[1] = 1;
    api->BufferUnmap(p->line);
    const WGPUBindGroupEntry entries[] = {
        {.binding = TSR_BIND_PARAMS, .buffer = p->line, .size = line_bytes},
        {.binding = TSR_BIND_OUTPUT, .buffer = p->output, .size = bytes}};
    const WGPUBindGroupDescriptor desc = {
        .layout = p->pipeline->layout, .entryCount = 2, .entries = entries};
    p->group = api->DeviceCreateBindGroup(p->device->device, &desc);
    return TSR_OK;
}

static void destroy(peak *p) {
    if (p->group)
        p->device->api->BindGroupRelease(p->group);
    tsr_buffer_destroy(p->device, p->line);
    tsr_buffer_destroy(p->device, p->output);
    if (p->pipeline)
        tsr_pipeline_release(p->device, p->pipeline);
}

tsr_status tsr_webgpu_measure_peak(tsr_backend_device *device, double *gflops) {
    peak p = {.device = device};
    TSR_TRY(tsr_webgpu_check_lost(device));
    tsr_status status = compile(&p);
    if (status == TSR_OK)
        status = bind(&p);
    if (status == TSR_OK)
        status = measure(&p, gflops);
    destroy(&p);
    return status != TSR_OK ? status : tsr_webgpu_check_error(device, "measuring the peak");
}
