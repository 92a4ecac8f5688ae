#include "webgpu/device.h"

#include "algorithm/algorithm.h"

#include "base/allocator.h"
#include "base/error.h"
#include "webgpu/adapter.h"
#include "webgpu/library.h"

#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------
 */

static void keep_error(tsr_backend_device *d, WGPUErrorType type, WGPUStringView message) {
    if (type == WGPUErrorType_NoError || d->error_status != TSR_OK)
        return;
    d->error_status =
        type == WGPUErrorType_OutOfMemory ? TSR_ERROR_OUT_OF_MEMORY : TSR_ERROR_DEVICE;
    tsr_wgpu_copy_text(d->error, sizeof d->error, message);
}

static void on_uncaptured_error(const WGPUDevice *device, WGPUErrorType type,
                                WGPUStringView message, void *d, void *unused) {
    (void)device;
    (void)unused;
    keep_error(d, type, message);
}

static void on_scope_popped(WGPUPopErrorScopeStatus status, WGPUErrorType type,
                            WGPUStringView message, void *d, void *unused) {
    (void)unused;
    if (status == WGPUPopErrorScopeStatus_Success)
        keep_error(d, type, message);
}

static void on_lost(const WGPUDevice *device, WGPUDeviceLostReason reason, WGPUStringView message,
                    void *user, void *unused) {
    (void)device;
    (void)reason;
    (void)unused;
    tsr_backend_device *d = user;
    d->lost = true;
    tsr_wgpu_copy_text(d->lost_message, sizeof d->lost_message, message);
    d->lost_message[strcspn(d->lost_message, "\n")] = '\0'; /* Dawn's own sources follow */
}

tsr_status tsr_webgpu_check_lost(tsr_backend_device *d) {
    if (!d->lost)
        d->api->InstanceProcessEvents(d->instance);
    if (!d->lost)
        return TSR_OK;
    return tsr_fail(
        TSR_ERROR_DEVICE_LOST,
        "the WebGPU device was lost (%s): destroy its sessions and the device, make them anew",
        d->lost_message);
}

tsr_status tsr_webgpu_check_error(tsr_backend_device *d, const char *what) {
    TSR_TRY(tsr_webgpu_check_lost(d));
    tsr_status status = d->error_status;
    d->error_status = TSR_OK;
    return status == TSR_OK ? TSR_OK : tsr_fail(status, "%s: %s", what, d->error);
}

tsr_status tsr_webgpu_wait(tsr_backend_device *d, WGPUFuture future) {
    tsr_status status = tsr_wgpu_wait(d->api, d->instance, future);
    TSR_TRY(tsr_webgpu_check_lost(d));
    return status;
}

void tsr_webgpu_submit(const tsr_backend_device *d, WGPUCommandEncoder encoder) {
    WGPUCommandBuffer commands = d->api->CommandEncoderFinish(encoder, NULL);
    d->api->QueueSubmit(d->queue, 1, &commands);
    d->api->CommandBufferRelease(commands);
    d->api->CommandEncoderRelease(encoder);
}

static const WGPUErrorFilter filters[] = {WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory,
                                          WGPUErrorFilter_Internal};
enum { FILTER_COUNT = sizeof filters / sizeof *filters };

void tsr_webgpu_push_errors(tsr_backend_device *d) {
    for (int i = 0; i < FILTER_COUNT; i++)
        d->api->DevicePushErrorScope(d->device, filters[i]);
}

tsr_status tsr_webgpu_pop_errors(tsr_backend_device *d, const char *what) {
    tsr_status status = TSR_OK;
    for (int i = 0; i < FILTER_COUNT; i++) { /* all of them, whatever happens */
        WGPUFuture future = d->api->DevicePopErrorScope(
            d->device, (WGPUPopErrorScopeCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                                       .callback = on_scope_popped,
                                                       .userdata1 = d});
        tsr_status waited = tsr_webgpu_wait(d, future);
        status = status == TSR_OK ? waited : status;
    }
    TSR_TRY(status);
    return tsr_webgpu_check_error(d, what);
}

/* ---- devices -----------------------------------------------------------------------------------
 */

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void fill_info(tsr_backend_device *d, const tsr_adapter *adapter,
                      const tsr_device_desc *desc) {
    memcpy(d->name, adapter->name, sizeof d->name);
    memcpy(d->version, adapter->version, sizeof d->version);
    bool is_cpu = adapter->type == WGPUAdapterType_CPU;
    d->profile = tsr_device_profile_make(TSR_WGSL, desc->kernels, is_cpu);
    d->profile.features = TSR_NEEDS_WORKGROUP_MEMORY;
    uint64_t bytes = smaller(d->limits.maxStorageBufferBindingSize, d->limits.maxBufferSize);
    d->info = (tsr_device_info){
        .backend = "webgpu",
        .name = d->name,
        .version = d->version,
        .is_cpu = is_cpu,
        .max_buffer_bytes =
            desc->webgpu.max_buffer_bytes ? smaller(bytes, desc->webgpu.max_buffer_bytes) : bytes,
        .max_workgroup_invocations = (int)d->limits.maxComputeInvocationsPerWorkgroup,
        .max_workgroup_bytes = (int)d->limits.maxComputeWorkgroupStorageSize,
        .max_storage_buffers = (int)d->limits.maxStorageBuffersPerShaderStage,
        .has_timer =
            d->api->AdapterHasFeature(adapter->handle, tsr_wgpu_timestamp_query(d->api)) != 0,
        .has_robust_reset = true,
    };
}

/* Limits that kernels rely on: those that WebGPU guarantees. */
static tsr_status check_limits(const tsr_device_info *info) {
    if (info->max_workgroup_invocations >= 256 && info->max_workgroup_bytes >= 16384 &&
        info->max_storage_buffers >= 8)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_NO_DEVICE,
                    "%s offers %d invocations and %d bytes of memory to a workgroup and %d storage "
                    "buffers: 256, 16384 and 8 are needed",
                    info->name, info->max_workgroup_invocations, info->max_workgroup_bytes,
                    info->max_storage_buffers);
}

static void receive_device(WGPURequestDeviceStatus status, WGPUDevice device,
                           WGPUStringView message, void *user, void *unused) {
    (void)unused;
    tsr_backend_device *d = user;
    d->device = status == WGPURequestDeviceStatus_Success ? device : NULL;
    tsr_wgpu_copy_text(d->error, sizeof d->error, message);
}

static tsr_status request_device(tsr_backend_device *d, const tsr_adapter *adapter) {
    /* By default Dawn quantizes timestamps to 0.1 ms, for privacy on web pages. */
    static const char *const coarse = "timestamp_quantization";
    WGPUDawnTogglesDescriptor toggles = {.chain = {.sType = WGPUSType_DawnTogglesDescriptor},
                                         .disabledToggleCount = 1,
                                         .disabledToggles = &coarse};
    const WGPUFeatureName timestamps = tsr_wgpu_timestamp_query(d->api);
    const WGPUDeviceDescriptor desc = {
        .nextInChain = &toggles.chain,
        .requiredFeatureCount = d->info.has_timer,
        .requiredFeatures = &timestamps,
        .requiredLimits = &d->limits,
        .deviceLostCallbackInfo = {.mode = WGPUCallbackMode_AllowProcessEvents,
                                   .callback = on_lost,
                                   .userdata1 = d},
        .uncapturedErrorCallbackInfo = {.callback = on_uncaptured_error, .userdata1 = d}};
    WGPUFuture future = d->api->AdapterRequestDevice(
        adapter->handle, &desc,
        (WGPURequestDeviceCallbackInfo){
            .mode = WGPUCallbackMode_WaitAnyOnly, .callback = receive_device, .userdata1 = d});
    TSR_TRY(tsr_wgpu_wait(d->api, d->instance, future));
    if (!d->device)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s provides no WebGPU device: %s", d->name, d->error);
    d->queue = d->api->DeviceGetQueue(d->device);
    return TSR_OK;
}

static tsr_status set_up(tsr_backend_device *d, const tsr_adapter *adapter,
                         const tsr_device_desc *desc) {
    if (d->api->AdapterGetLimits(adapter->handle, &d->limits) != WGPUStatus_Success)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s does not report its limits", adapter->name);
    fill_info(d, adapter, desc);
    TSR_TRY(check_limits(&d->info));
    return request_device(d, adapter);
}

/* On one of the adapters, which can then be closed. */
static tsr_status open_device(const tsr_adapters *adapters, const tsr_adapter *adapter,
                              const tsr_device_desc *desc, tsr_backend_device **out) {
    tsr_backend_device *d = tsr_calloc(1, sizeof *d);
    if (!d)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    d->api = adapters->api;
    d->instance = adapters->instance;
    d->api->InstanceAddRef(d->instance);
    tsr_status status = set_up(d, adapter, desc);
    if (status != TSR_OK) {
        tsr_webgpu_device_destroy(d);
        return status;
    }
    tsr_log(TSR_LOG_INFO, "webgpu: %s, %s", d->name, d->version);
    *out = d;
    return TSR_OK;
}

tsr_status tsr_webgpu_device_create(const tsr_device_desc *desc, tsr_backend_device **device) {
    tsr_adapters adapters;
    tsr_adapter *chosen;
    tsr_status status = tsr_adapters_open(desc, &adapters, &chosen);
    if (status == TSR_OK)
        status = open_device(&adapters, chosen, desc, device);
    tsr_adapters_close(&adapters);
    return status;
}

void tsr_webgpu_device_destroy(tsr_backend_device *d) {
    if (d->device) {
        d->api->DeviceDestroy(d->device);
        d->api->QueueRelease(d->queue);
        d->api->DeviceRelease(d->device);
    }
    /* Runs the callback of the loss while d is still valid. */
    d->api->InstanceProcessEvents(d->instance);
    d->api->InstanceRelease(d->instance);
    tsr_weights_clear(&d->weights);
    tsr_free(d);
}

void tsr_webgpu_device_info(const tsr_backend_device *d, tsr_device_info *info) {
    *info = d->info;
}

void tsr_webgpu_list_devices(tsr_device_fn fn, void *user) {
    tsr_adapters adapters;
    tsr_adapter *none;
    tsr_status status = tsr_adapters_open(NULL, &adapters, &none);
    for (int i = 0; status == TSR_OK && i < adapters.count; i++) {
        const tsr_device_desc desc = {.backend = "webgpu", .gpu = i + 1};
        tsr_backend_device *d = NULL;
        if (open_device(&adapters, &adapters.items[i], &desc, &d) != TSR_OK) {
            fn(user, &desc, NULL, tsr_last_error());
            continue;
        }
        fn(user, &desc, &d->info, NULL);
        tsr_webgpu_device_destroy(d);
    }
    if (status != TSR_OK)
        fn(user, &(tsr_device_desc){.backend = "webgpu"}, NULL, tsr_last_error());
    tsr_adapters_close(&adapters);
}
