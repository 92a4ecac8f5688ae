#include "webgpu/device.h"

#include "algorithm/algorithm.h"

#include "base/allocator.h"
#include "base/error.h"
#include "webgpu/adapter.h"
#include "webgpu/library.h"

#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------
 */

static void keep_error(tsr_backend_device *d, WGPUErrorType type, WGPUStringView message) {
    if (type == WGPUErrorType_NoError || d->error_status != TSR_OK)
        return;
    d->error_status = tsr_webgpu_error_status(type);
    tsr_wgpu_copy_text(d->error, sizeof d->error, message);
}

static void on_uncaptured_error(const WGPUDevice *device, WGPUErrorType type,
                                WGPUStringView message, void *d, void *unused) {
    (void)device;
    (void)unused;
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

/* Without processing events, which would call the owner's callbacks. */
static void look_for_loss(tsr_backend_device *d) {
    WGPUFutureWaitInfo info = {.future = d->lost_future};
    if (d->api->InstanceWaitAny(d->instance, 1, &info, 0) != WGPUWaitStatus_Success)
        return;
    d->lost = true;
    snprintf(d->lost_message, sizeof d->lost_message, "it is the caller's, who was told why");
}

tsr_status tsr_webgpu_check_lost(tsr_backend_device *d) {
    if (!d->lost && d->adopted)
        look_for_loss(d);
    else if (!d->lost)
        d->api->InstanceProcessEvents(d->instance);
    if (!d->lost)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_DEVICE_LOST,
                    "the WebGPU device was lost (%s): make a device anew, with which "
                    "tsr_session_recover() continues",
                    d->lost_message);
}

bool tsr_webgpu_is_lost(tsr_backend_device *d) {
    return tsr_webgpu_check_lost(d) != TSR_OK;
}

tsr_status tsr_webgpu_check_error(tsr_backend_device *d, const char *what) {
    TSR_TRY(tsr_webgpu_check_lost(d));
    tsr_status status = d->error_status;
    d->error_status = TSR_OK;
    return status == TSR_OK ? TSR_OK : tsr_fail(status, "%s: %s", what, d->error);
}

tsr_status tsr_webgpu_wait(tsr_backend_device *d, WGPUFuture future, uint64_t timeout,
                           bool *pending) {
    tsr_status status = tsr_wgpu_wait(d->api, d->instance, future, timeout);
    if (status == TSR_OK && pending)
        *pending = false;
    TSR_TRY(tsr_webgpu_check_lost(d));
    return status;
}

void tsr_webgpu_submit(const tsr_backend_device *d, WGPUCommandEncoder encoder) {
    WGPUCommandBuffer commands = d->api->CommandEncoderFinish(encoder, NULL);
    d->api->QueueSubmit(d->queue, 1, &commands);
    d->api->CommandBufferRelease(commands);
    d->api->CommandEncoderRelease(encoder);
}

void tsr_webgpu_enter(tsr_backend_device *d) {
    if (d->shared)
        tsr_webgpu_push_errors(d);
}

tsr_status tsr_webgpu_leave(tsr_backend_device *d, tsr_status status, const char *what) {
    if (!d->shared)
        return status;
    tsr_status errors = tsr_webgpu_pop_errors(d, what);
    return errors != TSR_OK ? errors : status;
}

/* ---- devices -----------------------------------------------------------------------------------
 */

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void fill_info(tsr_backend_device *d, const tsr_adapter *adapter,
                      const tsr_device_desc *desc, bool has_timer) {
    enum { MATRIX_BYTES = 32768 }; /* at most, of wgsl/gemm_subgroup_matrix.wgsl */
    memcpy(d->name, adapter->name, sizeof d->name);
    memcpy(d->version, adapter->version, sizeof d->version);
    bool is_cpu = adapter->type == WGPUAdapterType_CPU;
    d->profile = tsr_device_profile_make(TSR_WGSL, desc->kernels, is_cpu, (tsr_fragment_limits){0});
    d->profile.features = TSR_NEEDS_WORKGROUP_MEMORY;
    if (d->api->InstanceHasWGSLLanguageFeature(
            d->instance, WGPUWGSLLanguageFeatureName_Packed4x8IntegerDotProduct))
        d->profile.features |= TSR_NEEDS_PACKED_DOT;
    if (d->limits.maxComputeWorkgroupStorageSize >= MATRIX_BYTES && tsr_wgpu_has_subgroup_matrix())
        d->profile.features |= TSR_NEEDS_SUBGROUP_MATRIX;
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
        .has_timer = has_timer,
        .has_robust_reset = true,
    };
}

/* Limits that kernels rely on: those that WebGPU guarantees, but for compatibility mode. */
static tsr_status check_limits(const tsr_backend_device *d) {
    const WGPULimits *l = &d->limits;
    const struct {
        const char *name;
        uint32_t has, needs;
    } limits[] = {
        {"maxComputeInvocationsPerWorkgroup", l->maxComputeInvocationsPerWorkgroup, 256},
        {"maxComputeWorkgroupSizeX", l->maxComputeWorkgroupSizeX, 256},
        {"maxComputeWorkgroupStorageSize", l->maxComputeWorkgroupStorageSize, 16384},
        {"maxStorageBuffersPerShaderStage", l->maxStorageBuffersPerShaderStage, 8},
        {"maxComputeWorkgroupsPerDimension", l->maxComputeWorkgroupsPerDimension, 65535},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].has < limits[i].needs)
            return tsr_fail(TSR_ERROR_NO_DEVICE, "%s has %s %u, %u is needed", d->name,
                            limits[i].name, limits[i].has, limits[i].needs);
    return TSR_OK;
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
    TSR_TRY(tsr_wgpu_wait(d->api, d->instance, future, UINT64_MAX));
    d->shared = tsr_wgpu_shares_device(d->api);
    if (!d->device)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s provides no WebGPU device: %s", d->name, d->error);
    d->queue = d->api->DeviceGetQueue(d->device);
    return TSR_OK;
}

static tsr_status set_up(tsr_backend_device *d, const tsr_adapter *adapter,
                         const tsr_device_desc *desc) {
    if (d->api->AdapterGetLimits(adapter->handle, &d->limits) != WGPUStatus_Success)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s does not report its limits", adapter->name);
    fill_info(d, adapter, desc,
              d->api->AdapterHasFeature(adapter->handle, tsr_wgpu_timestamp_query(d->api)) != 0);
    TSR_TRY(check_limits(d));
    return request_device(d, adapter);
}

static tsr_status make(const tsr_wgpu *api, WGPUInstance instance, tsr_backend_device **out) {
    tsr_backend_device *d = *out = tsr_calloc(1, sizeof *d);
    if (!d)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    d->api = api;
    d->instance = instance;
    api->InstanceAddRef(instance);
    return TSR_OK;
}

/* Of a device that was made, after it was set up with this status. */
static tsr_status finish_open(tsr_backend_device *d, tsr_status status, tsr_backend_device **out) {
    if (status != TSR_OK) {
        tsr_webgpu_device_destroy(d);
        return status;
    }
    tsr_log(TSR_LOG_INFO, "webgpu: %s, %s", d->name, d->version);
    *out = d;
    return TSR_OK;
}

/* On one of the adapters, which can then be closed. */
static tsr_status open_device(const tsr_adapters *adapters, const tsr_adapter *adapter,
                              const tsr_device_desc *desc, tsr_backend_device **out) {
    tsr_backend_device *d;
    TSR_TRY(make(adapters->api, adapters->instance, &d));
    return finish_open(d, set_up(d, adapter, desc), out);
}

/* ---- devices of the caller's ------------------------------------------------------------------
 */

static tsr_status describe_adopted(tsr_backend_device *d, const tsr_device_desc *desc) {
    WGPUAdapter handle = d->api->DeviceGetAdapter(d->device);
    WGPUInstance instance = d->api->AdapterGetInstance(handle);
    const tsr_adapter adapter = tsr_adapter_describe(d->api, handle);
    bool same = instance == d->instance;
    d->api->InstanceRelease(instance);
    d->api->AdapterRelease(handle);
    if (!same)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the WebGPU device is not of that instance");
    if (d->api->DeviceGetLimits(d->device, &d->limits) != WGPUStatus_Success)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s does not report its limits", adapter.name);
    fill_info(d, &adapter, desc,
              d->api->DeviceHasFeature(d->device, tsr_wgpu_timestamp_query(d->api)) != 0);
    return check_limits(d);
}

static void note_done(WGPUQueueWorkDoneStatus status, WGPUStringView message, void *user,
                      void *unused) {
    (void)status, (void)message, (void)user, (void)unused;
}

static tsr_status check_waits(const tsr_backend_device *d) {
    const WGPUQueueWorkDoneCallbackInfo callback = {.mode = WGPUCallbackMode_WaitAnyOnly,
                                                    .callback = note_done};
    WGPUFuture done = d->api->QueueOnSubmittedWorkDone(d->queue, callback);
    if (tsr_wgpu_wait(d->api, d->instance, done, UINT64_MAX) == TSR_OK)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_NO_DEVICE, "the WebGPU instance allows no timed waits: make it with "
                                         "WGPUInstanceFeatureName_TimedWaitAny");
}

static tsr_status set_up_adopted(tsr_backend_device *d, const tsr_device_desc *desc) {
    d->adopted = d->shared = true;
    d->device = desc->webgpu.device;
    d->api->DeviceAddRef(d->device);
    d->queue = d->api->DeviceGetQueue(d->device);
    d->lost_future = d->api->DeviceGetLostFuture(d->device);
    TSR_TRY(describe_adopted(d, desc));
    TSR_TRY(tsr_webgpu_check_lost(d));
    return check_waits(d);
}

static tsr_status adopt(const tsr_device_desc *desc, tsr_backend_device **out) {
    const tsr_wgpu *api;
    tsr_backend_device *d;
    TSR_TRY(tsr_wgpu_load(&api));
    TSR_TRY(make(api, desc->webgpu.instance, &d));
    return finish_open(d, set_up_adopted(d, desc), out);
}

/* ---- all devices ------------------------------------------------------------------------------
 */

tsr_status tsr_webgpu_device_create(const tsr_device_desc *desc, tsr_backend_device **device) {
    if (desc->webgpu.device)
        return adopt(desc, device);
    tsr_adapters adapters;
    tsr_adapter *chosen;
    tsr_status status = tsr_adapters_open(desc, &adapters, &chosen);
    if (status == TSR_OK)
        status = open_device(&adapters, chosen, desc, device);
    tsr_adapters_close(&adapters);
    return status;
}

void tsr_webgpu_device_destroy(tsr_backend_device *d) {
    tsr_pipelines_clear(d);
    if (d->device) {
        if (!d->adopted)
            d->api->DeviceDestroy(d->device);
        d->api->QueueRelease(d->queue);
        d->api->DeviceRelease(d->device);
    }
    /* Runs the callback of the loss while d is still valid. */
    if (!d->adopted)
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
