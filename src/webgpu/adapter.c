#include "webgpu/adapter.h"

#include "webgpu/library.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void tsr_wgpu_copy_text(char *text, size_t size, WGPUStringView view) {
    size_t length = !view.data ? 0 : view.length == WGPU_STRLEN ? strlen(view.data) : view.length;
    while (length > 0 && view.data[length - 1] == '\n')
        length--;
    if (length >= size)
        length = size - 1;
    if (length > 0)
        memcpy(text, view.data, length);
    text[length] = '\0';
}

tsr_status tsr_wgpu_wait(const tsr_wgpu *api, WGPUInstance instance, WGPUFuture future,
                         uint64_t timeout) {
    WGPUFutureWaitInfo info = {.future = future};
    WGPUWaitStatus status = api->InstanceWaitAny(instance, 1, &info, timeout);
    if (status == WGPUWaitStatus_Success)
        return TSR_OK;
    return status == WGPUWaitStatus_TimedOut
               ? TSR_NOT_READY
               : tsr_fail(TSR_ERROR_DEVICE,
                          "WebGPU cannot wait for an operation: where nothing may block, as in a "
                          "page, poll until it is complete");
}

/* ---- finding -----------------------------------------------------------------------------------
 */

static const struct {
    WGPUBackendType type;
    const char *name;
} backends[] = {
    {WGPUBackendType_Vulkan, "Vulkan"},     {WGPUBackendType_Metal, "Metal"},
    {WGPUBackendType_D3D12, "Direct3D 12"}, {WGPUBackendType_OpenGLES, "OpenGL ES"},
    {WGPUBackendType_Undefined, "WebGPU"}, /* any other */
};

enum { BACKEND_COUNT = sizeof backends / sizeof *backends };

static void receive_adapter(WGPURequestAdapterStatus status, WGPUAdapter adapter,
                            WGPUStringView message, void *received, void *unused) {
    (void)message;
    (void)unused;
    *(WGPUAdapter *)received = status == WGPURequestAdapterStatus_Success ? adapter : NULL;
}

static tsr_status request(const tsr_adapters *a, WGPUBackendType backend, WGPUPowerPreference power,
                          WGPUAdapter *adapter) {
    *adapter = NULL;
    /* Dawn's OpenGL ES backend is never core WebGPU; compute needs none of the missing features. */
    bool core = backend != WGPUBackendType_OpenGLES;
    const WGPURequestAdapterOptions options = {
        .featureLevel = core ? WGPUFeatureLevel_Core : WGPUFeatureLevel_Compatibility,
        .powerPreference = power,
        .backendType = backend};
    WGPUFuture future = a->api->InstanceRequestAdapter(
        a->instance, &options,
        (WGPURequestAdapterCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                         .callback = receive_adapter,
                                         .userdata1 = adapter});
    return tsr_wgpu_wait(a->api, a->instance, future, UINT64_MAX);
}

static const char *backend_name(WGPUBackendType type) {
    int i = 0;
    while (i < BACKEND_COUNT - 1 && backends[i].type != type)
        i++;
    return backends[i].name;
}

tsr_adapter tsr_adapter_describe(const tsr_wgpu *api, WGPUAdapter handle) {
    WGPUAdapterInfo info = {0};
    api->AdapterGetInfo(handle, &info);
    tsr_adapter adapter = {
        handle, info.backendType, info.adapterType, info.vendorID, info.deviceID, "", ""};
    tsr_wgpu_copy_text(adapter.name, sizeof adapter.name, info.device);
    char driver[sizeof adapter.version / 2];
    tsr_wgpu_copy_text(driver, sizeof driver, info.description);
    snprintf(adapter.version, sizeof adapter.version, "%s, %s", backend_name(info.backendType),
             driver);
    api->AdapterInfoFreeMembers(info);
    return adapter;
}

static bool is_same(const tsr_adapter *a, const tsr_adapter *b) {
    return a->backend == b->backend && a->type == b->type && a->vendor == b->vendor &&
           a->model == b->model && !strcmp(a->name, b->name);
}

/* Owns the handle. */
static void add(tsr_adapters *a, WGPUAdapter handle) {
    tsr_adapter found = tsr_adapter_describe(a->api, handle);
    bool is_null = found.backend == WGPUBackendType_Null, known = false;
    for (int i = 0; i < a->count; i++)
        known |= is_same(&a->items[i], &found);
    a->found_null |= is_null;
    if (is_null || known || a->count == TSR_MAX_ADAPTERS)
        a->api->AdapterRelease(handle);
    else
        a->items[a->count++] = found;
}

static tsr_status find(tsr_adapters *a, WGPUBackendType backend) {
    static const WGPUPowerPreference powers[] = {WGPUPowerPreference_HighPerformance,
                                                 WGPUPowerPreference_LowPower};
    for (int i = 0; i < 2; i++) {
        WGPUAdapter handle;
        TSR_TRY(request(a, backend, powers[i], &handle));
        if (handle)
            add(a, handle);
    }
    return TSR_OK;
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

static bool contains(const char *text, const char *name) {
    size_t length = strlen(name);
    for (; strlen(text) >= length; text++)
        if (!strncasecmp(text, name, length))
            return true;
    return false;
}

/* Among those found so far; NULL: not yet. */
static tsr_adapter *choose(tsr_adapters *a, const tsr_device_desc *desc) {
    if (desc->gpu)
        return desc->gpu <= a->count ? &a->items[desc->gpu - 1] : NULL;
    for (int i = 0; i < a->count; i++)
        if (desc->webgpu.adapter ? contains(a->items[i].name, desc->webgpu.adapter)
                                 : a->items[i].type != WGPUAdapterType_CPU)
            return &a->items[i];
    return desc->webgpu.adapter || !a->count ? NULL : a->items;
}

static tsr_status fail_none(const tsr_adapters *a) {
    return tsr_fail(TSR_ERROR_NO_DEVICE, "%s: %s",
                    a->found_null ? "WebGPU finds only its Null adapter, which computes nothing"
                                  : "WebGPU finds no adapter",
                    tsr_wgpu_needs());
}

static tsr_status fail_choice(const tsr_adapters *a, const tsr_device_desc *desc) {
    char names[1024] = "";
    for (int i = 0; i < a->count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%d '%s'", i ? ", " : "", i + 1,
                 a->items[i].name);
    }
    if (desc->webgpu.adapter)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "no WebGPU adapter is named '%s', there is only %s",
                        desc->webgpu.adapter, names);
    return tsr_fail(TSR_ERROR_NO_DEVICE, "there is no WebGPU adapter %d, only %s", desc->gpu,
                    names);
}

tsr_status tsr_adapters_open(const tsr_device_desc *desc, tsr_adapters *a, tsr_adapter **chosen) {
    *a = (tsr_adapters){0};
    *chosen = NULL;
    TSR_TRY(tsr_wgpu_load(&a->api));
    a->instance = tsr_wgpu_create_instance(a->api);
    if (!a->instance)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "WebGPU cannot make an instance");
    for (int i = 0; i < BACKEND_COUNT && !*chosen; i++) {
        TSR_TRY(find(a, backends[i].type));
        *chosen = desc ? choose(a, desc) : NULL;
    }
    if (!a->count)
        return fail_none(a);
    tsr_wgpu_keep(a->api, a->instance);
    return desc && !*chosen ? fail_choice(a, desc) : TSR_OK;
}

void tsr_adapters_close(tsr_adapters *a) {
    for (int i = 0; i < a->count; i++)
        a->api->AdapterRelease(a->items[i].handle);
    if (a->instance)
        a->api->InstanceRelease(a->instance);
    *a = (tsr_adapters){0};
}
