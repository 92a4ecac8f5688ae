#include "support/webgpu_caller.h"

#include "support/backends.h"
#include "webgpu/library.h"

#include <string.h>

static void receive_adapter(WGPURequestAdapterStatus status, WGPUAdapter adapter,
                            WGPUStringView message, void *received, void *unused) {
    (void)status, (void)message, (void)unused;
    *(WGPUAdapter *)received = adapter;
}

static void receive_device(WGPURequestDeviceStatus status, WGPUDevice device,
                           WGPUStringView message, void *received, void *unused) {
    (void)status, (void)message, (void)unused;
    *(WGPUDevice *)received = device;
}

static void count_error(const WGPUDevice *device, WGPUErrorType type, WGPUStringView message,
                        void *caller, void *unused) {
    (void)device, (void)type, (void)message, (void)unused;
    ((webgpu_caller *)caller)->errors++;
}

static void count_loss(const WGPUDevice *device, WGPUDeviceLostReason reason,
                       WGPUStringView message, void *caller, void *unused) {
    (void)device, (void)reason, (void)message, (void)unused;
    ((webgpu_caller *)caller)->losses++;
}

/* Without timed waits, only polling can wait. */
static void await(const webgpu_caller *c, WGPUFuture future) {
    WGPUFutureWaitInfo info = {.future = future};
    while (!info.completed)
        assert_int_not_equal(c->api->InstanceWaitAny(c->instance, 1, &info, 0),
                             WGPUWaitStatus_Error);
}

static WGPUAdapter request_adapter(const webgpu_caller *c, bool compatibility) {
    WGPUAdapter adapter = NULL;
    WGPURequestAdapterOptions options = {.featureLevel = WGPUFeatureLevel_Core};
    if (compatibility) { /* Vulkan alone: Dawn's search for OpenGL ES leaks where there is no EGL */
        options.featureLevel = WGPUFeatureLevel_Compatibility;
        options.backendType = WGPUBackendType_Vulkan;
    }
    await(c, c->api->InstanceRequestAdapter(
                 c->instance, &options,
                 (WGPURequestAdapterCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                                  .callback = receive_adapter,
                                                  .userdata1 = &adapter}));
    if (!adapter)
        lacking("a WebGPU adapter");
    return adapter;
}

static void request_device(webgpu_caller *c, WGPUAdapter adapter, const caller_options *options) {
    const WGPUFeatureName timestamps = tsr_wgpu_timestamp_query(c->api);
    WGPUDeviceDescriptor desc = {.requiredFeatureCount =
                                     !options->no_timestamps &&
                                     c->api->AdapterHasFeature(adapter, timestamps),
                                 .requiredFeatures = &timestamps};
    if (!options->no_callbacks) {
        desc.deviceLostCallbackInfo = (WGPUDeviceLostCallbackInfo){
            .mode = WGPUCallbackMode_AllowProcessEvents, .callback = count_loss, .userdata1 = c};
        desc.uncapturedErrorCallbackInfo =
            (WGPUUncapturedErrorCallbackInfo){.callback = count_error, .userdata1 = c};
    }
    await(c, c->api->AdapterRequestDevice(
                 adapter, &desc,
                 (WGPURequestDeviceCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                                 .callback = receive_device,
                                                 .userdata1 = &c->device}));
    assert_non_null(c->device);
}

void open_webgpu_caller(webgpu_caller *c, const caller_options *options) {
    need_backend("webgpu");
    *c = (webgpu_caller){0};
    assert_int_equal(tsr_wgpu_load(&c->api), TSR_OK);
    c->instance =
        options->no_timed_waits ? c->api->CreateInstance(NULL) : tsr_wgpu_create_instance(c->api);
    assert_non_null(c->instance);
    WGPUAdapter adapter = request_adapter(c, options->compatibility);
    request_device(c, adapter, options);
    c->api->AdapterRelease(adapter);
    c->queue = c->api->DeviceGetQueue(c->device);
}

static void receive_scope(WGPUPopErrorScopeStatus status, WGPUErrorType type,
                          WGPUStringView message, void *received, void *unused) {
    (void)type, (void)message, (void)unused;
    *(WGPUPopErrorScopeStatus *)received = status;
}

/* Popping fails: nobody left an error scope open. */
static void expect_no_scope(const webgpu_caller *c) {
    WGPUPopErrorScopeStatus status = WGPUPopErrorScopeStatus_Success;
    await(c, c->api->DevicePopErrorScope(
                 c->device, (WGPUPopErrorScopeCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                                            .callback = receive_scope,
                                                            .userdata1 = &status}));
    assert_int_not_equal(status, WGPUPopErrorScopeStatus_Success);
}

void close_webgpu_caller(webgpu_caller *c) {
    c->api->InstanceProcessEvents(c->instance);
    if (!c->losses)
        expect_no_scope(c);
    assert_int_equal(c->errors, 0);
    c->api->QueueRelease(c->queue);
    c->api->DeviceDestroy(c->device);
    c->api->DeviceRelease(c->device);
    c->api->InstanceProcessEvents(c->instance); /* the callback of the loss writes to c */
    c->api->InstanceRelease(c->instance);
}

tsr_device_desc adopting(const webgpu_caller *c) {
    return (tsr_device_desc){.backend = "webgpu",
                             .webgpu = {.instance = c->instance, .device = c->device}};
}

/* ---- buffers --------------------------------------------------------------------------------- */

WGPUBuffer make_caller_buffer(const webgpu_caller *c, WGPUBufferUsage more_usage,
                              const void *contents, uint64_t bytes) {
    const WGPUBufferDescriptor desc = {.usage = WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc |
                                                more_usage,
                                       .size = bytes,
                                       .mappedAtCreation = true};
    WGPUBuffer buffer = c->api->DeviceCreateBuffer(c->device, &desc);
    void *mapped = c->api->BufferGetMappedRange(buffer, 0, (size_t)bytes);
    assert_non_null(mapped);
    if (contents)
        memcpy(mapped, contents, (size_t)bytes);
    else
        memset(mapped, 0xa5, (size_t)bytes);
    c->api->BufferUnmap(buffer);
    return buffer;
}

static void note_mapped(WGPUMapAsyncStatus status, WGPUStringView message, void *unused,
                        void *unused2) {
    (void)message, (void)unused, (void)unused2;
    assert_int_equal(status, WGPUMapAsyncStatus_Success);
}

void read_caller_buffer(const webgpu_caller *c, WGPUBuffer buffer, void *contents, uint64_t bytes) {
    const tsr_wgpu *api = c->api;
    const WGPUBufferDescriptor desc = {.usage = WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead,
                                       .size = bytes};
    WGPUBuffer copy = api->DeviceCreateBuffer(c->device, &desc);
    WGPUCommandEncoder encoder = api->DeviceCreateCommandEncoder(c->device, NULL);
    api->CommandEncoderCopyBufferToBuffer(encoder, buffer, 0, copy, 0, bytes);
    WGPUCommandBuffer commands = api->CommandEncoderFinish(encoder, NULL);
    api->QueueSubmit(c->queue, 1, &commands);
    api->CommandBufferRelease(commands);
    api->CommandEncoderRelease(encoder);
    await(c, api->BufferMapAsync(copy, WGPUMapMode_Read, 0, (size_t)bytes,
                                 (WGPUBufferMapCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                                             .callback = note_mapped}));
    memcpy(contents, api->BufferGetConstMappedRange(copy, 0, (size_t)bytes), (size_t)bytes);
    api->BufferDestroy(copy);
    api->BufferRelease(copy);
}
