/* Measures the device's peak rates of compute passes and transfers, for reports of shares of peak.
 */
#include "webgpu/runner.h"
#include "kernel/template.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"

#include <string.h>

/* TEXELS: copied and transferred, 16 MiB; GROUPS: of dispatches that compute and load. */
enum { TEXELS = 1 << 20, GROUPS = 4096, GROUP = 64, SAMPLES = 9, SAMPLE_MS = 20, MOST_MS = 400 };
enum { INVOCATION_FLOPS = 64 * 8 * 3 * 4 * 2, INVOCATION_LOADS = 8 * 8 };
enum { BYTES = TEXELS * 16 };

typedef struct bench {
    tsr_backend_device *device;
    WGPUBuffer line, from, to, readback;
    void *bytes; /* uploaded from here, read back to here */
    /* of a program: */
    tsr_pipeline *pipeline;
    WGPUBindGroup group;
    uint32_t groups;
} bench;

/* ---- what is timed --------------------------------------------------------------------------- */

static void submit(const bench *b, WGPUCommandEncoder encoder) {
    const tsr_wgpu *api = b->device->api;
    WGPUCommandBuffer commands = api->CommandEncoderFinish(encoder, NULL);
    api->QueueSubmit(b->device->queue, 1, &commands);
    api->CommandBufferRelease(commands);
    api->CommandEncoderRelease(encoder);
}

static tsr_status dispatch(bench *b, int count) {
    const tsr_wgpu *api = b->device->api;
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(b->device->device, NULL);
    WGPUComputePassEncoder pass = api->CommandEncoderBeginComputePass(encoder, NULL);
    api->ComputePassEncoderSetPipeline(pass, b->pipeline->pipeline);
    api->ComputePassEncoderSetBindGroup(pass, 0, b->group, 0, NULL);
    for (int i = 0; i < count; i++)
        api->ComputePassEncoderDispatchWorkgroups(pass, b->groups, 1, 1);
    api->ComputePassEncoderEnd(pass);
    api->ComputePassEncoderRelease(pass);
    submit(b, encoder);
    return tsr_webgpu_finish(b->device);
}

static tsr_status upload(bench *b, int count) {
    for (int i = 0; i < count; i++)
        b->device->api->QueueWriteBuffer(b->device->queue, b->from, 0, b->bytes, BYTES);
    return tsr_webgpu_finish(b->device);
}

static void note_mapped(WGPUMapAsyncStatus status, WGPUStringView message, void *user,
                        void *unused) {
    (void)message, (void)unused;
    *(bool *)user = status == WGPUMapAsyncStatus_Success;
}

static tsr_status read_once(bench *b) {
    const tsr_wgpu *api = b->device->api;
    bool mapped = false;
    const WGPUBufferMapCallbackInfo callback = {
        .mode = WGPUCallbackMode_WaitAnyOnly, .callback = note_mapped, .userdata1 = &mapped};
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(b->device->device, NULL);
    api->CommandEncoderCopyBufferToBuffer(encoder, b->from, 0, b->readback, 0, BYTES);
    submit(b, encoder);
    WGPUFuture future = api->BufferMapAsync(b->readback, WGPUMapMode_Read, 0, BYTES, callback);
    TSR_TRY(tsr_webgpu_wait(b->device, future, UINT64_MAX, NULL));
    const void *bytes = mapped ? api->BufferGetConstMappedRange(b->readback, 0, BYTES) : NULL;
    if (!bytes)
        return tsr_fail(TSR_ERROR_DEVICE, "a buffer could not be mapped to measure the device");
    memcpy(b->bytes, bytes, BYTES);
    api->BufferUnmap(b->readback);
    return TSR_OK;
}

static tsr_status read_back(bench *b, int count) {
    for (int i = 0; i < count; i++)
        TSR_TRY(read_once(b));
    return TSR_OK;
}

typedef tsr_status work_fn(bench *b, int count);

static tsr_status timed(bench *b, work_fn *work, int count, double *ms) {
    double start = tsr_clock_ms();
    tsr_status status = work(b, count);
    *ms = tsr_clock_ms() - start;
    return status;
}

/* Giga-operations per second of work that does `amount` operations: the best of several samples
 * after a warm-up; fewer samples on a slow device. */
static tsr_status best_rate(bench *b, work_fn *work, double amount, double *best) {
    double once, ms, sum = 0;
    TSR_TRY(timed(b, work, 1, &once));
    TSR_TRY(timed(b, work, 1, &once));
    int count = once > SAMPLE_MS ? 1 : (int)(SAMPLE_MS / (once + 0.02)) + 1;
    for (int i = 0; i < SAMPLES && sum < MOST_MS; i++) {
        TSR_TRY(timed(b, work, count, &ms));
        sum += ms;
        double rate = count * amount / ms * 1e-6;
        *best = rate > *best ? rate : *best;
    }
    return TSR_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

static tsr_status compile(bench *b, const char *stem) {
    static const tsr_kernel whole = {.stem = "peak"};
    const tsr_pass pass = {.kernel = &whole, .source_count = 1};
    tsr_text text = {0};
    TSR_TRY(tsr_template_expand_file(&text, stem, &(tsr_template){.find_file = tsr_wgsl_file}));
    char *chars = tsr_text_take(&text);
    if (!chars)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to measure the device");
    TSR_TRY(tsr_pipeline_acquire_text(b->device, chars, &pass, &b->pipeline));
    return tsr_pipeline_finish(b->device, b->pipeline, &pass, UINT64_MAX);
}

static void bind(bench *b) {
    const WGPUBindGroupEntry entries[] = {
        {.binding = TSR_BIND_PARAMS, .buffer = b->line, .size = 4 * sizeof(float)},
        {.binding = TSR_BIND_OUTPUT, .buffer = b->to, .size = BYTES},
        {.binding = TSR_BIND_SOURCES, .buffer = b->from, .size = BYTES}};
    const WGPUBindGroupDescriptor desc = {
        .layout = b->pipeline->layout, .entryCount = 3, .entries = entries};
    b->group = b->device->api->DeviceCreateBindGroup(b->device->device, &desc);
}

/* Giga-operations per second of a whole program with `amount` operations per invocation. */
static tsr_status measure_dispatches(bench *b, const char *stem, uint32_t groups, double amount,
                                     double *rate) {
    b->groups = groups;
    tsr_status status = compile(b, stem);
    if (status == TSR_OK) {
        bind(b);
        status = best_rate(b, dispatch, (double)groups * GROUP * amount, rate);
        b->device->api->BindGroupRelease(b->group);
    }
    if (b->pipeline)
        tsr_pipeline_release(b->device, b->pipeline);
    b->pipeline = NULL;
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static tsr_status create(bench *b) {
    void *line;
    b->line = tsr_buffer_mapped(b->device, WGPUBufferUsage_Uniform, 4 * sizeof(float), &line);
    b->from = tsr_buffer_storage(b->device, BYTES);
    b->to = tsr_buffer_storage(b->device, BYTES);
    b->readback = tsr_buffer_readback(b->device, BYTES);
    b->bytes = tsr_malloc(BYTES);
    if (!line || !b->from || !b->to || !b->readback || !b->bytes)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to measure the device");
    ((float *)line)[0] = 0.5f;
    ((float *)line)[1] = 1;
    b->device->api->BufferUnmap(b->line);
    for (int i = 0; i < 4 * TEXELS; i++)
        ((float *)b->bytes)[i] = (float)(i % 251);
    return TSR_OK;
}

static tsr_status measure(bench *b, tsr_device_peaks *peaks) {
    TSR_TRY(create(b));
    TSR_TRY(best_rate(b, upload, BYTES, &peaks->upload_gbs));
    TSR_TRY(best_rate(b, read_back, BYTES, &peaks->readback_gbs));
    TSR_TRY(measure_dispatches(b, "peak", GROUPS, INVOCATION_FLOPS, &peaks->gflops));
    TSR_TRY(measure_dispatches(b, "peak_fetch", GROUPS, INVOCATION_LOADS, &peaks->gfetches));
    return measure_dispatches(b, "peak_copy", TEXELS / GROUP, 2 * 16, &peaks->copy_gbs);
}

tsr_status tsr_webgpu_measure(tsr_backend_device *device, tsr_device_peaks *peaks) {
    bench b = {.device = device};
    TSR_TRY(tsr_webgpu_check_lost(device));
    tsr_webgpu_enter(device);
    tsr_status status = tsr_webgpu_leave(device, measure(&b, peaks), "measuring the device");
    tsr_buffer_destroy(device, b.line);
    tsr_buffer_destroy(device, b.from);
    tsr_buffer_destroy(device, b.to);
    tsr_buffer_destroy(device, b.readback);
    tsr_free(b.bytes);
    return status != TSR_OK ? status : tsr_webgpu_check_error(device, "measuring the device");
}
