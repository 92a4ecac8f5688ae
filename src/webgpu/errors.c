#include "webgpu/errors.h"

#include "webgpu/adapter.h"
#include "webgpu/device.h"
#include "webgpu/library.h"

static const WGPUErrorFilter filters[TSR_ERROR_SCOPES] = {
    WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory, WGPUErrorFilter_Internal};

tsr_status tsr_webgpu_error_status(WGPUErrorType type) {
    return type == WGPUErrorType_NoError       ? TSR_OK
           : type == WGPUErrorType_OutOfMemory ? TSR_ERROR_OUT_OF_MEMORY
                                               : TSR_ERROR_DEVICE;
}

static void receive_error(WGPUPopErrorScopeStatus status, WGPUErrorType type,
                          WGPUStringView message, void *user, void *unused) {
    (void)unused;
    tsr_popped_errors *e = user;
    if (status != WGPUPopErrorScopeStatus_Success || e->status != TSR_OK)
        return;
    e->status = tsr_webgpu_error_status(type);
    tsr_wgpu_copy_text(e->message, sizeof e->message, message);
}

void tsr_webgpu_push_errors(tsr_backend_device *d) {
    for (int i = 0; i < TSR_ERROR_SCOPES; i++)
        d->api->DevicePushErrorScope(d->device, filters[i]);
}

void tsr_webgpu_start_pop(tsr_backend_device *d, tsr_popped_errors *e) {
    const WGPUPopErrorScopeCallbackInfo callback = {
        .mode = WGPUCallbackMode_WaitAnyOnly, .callback = receive_error, .userdata1 = e};
    *e = (tsr_popped_errors){.pending = TSR_ERROR_SCOPES};
    for (int i = 0; i < TSR_ERROR_SCOPES; i++)
        e->futures[i] = d->api->DevicePopErrorScope(d->device, callback);
}

static WGPUFuture next(const tsr_popped_errors *e) {
    return e->futures[TSR_ERROR_SCOPES - e->pending];
}

tsr_status tsr_webgpu_finish_pop(tsr_backend_device *d, tsr_popped_errors *e, const char *what,
                                 uint64_t timeout) {
    while (e->pending) {
        bool pending = true;
        tsr_status status = tsr_webgpu_wait(d, next(e), timeout, &pending);
        e->pending -= !pending;
        TSR_TRY(status);
    }
    if (e->status == TSR_OK)
        return tsr_webgpu_check_error(d, what);
    TSR_TRY(tsr_webgpu_check_lost(d));
    return tsr_fail(e->status, "%s: %s", what, e->message);
}

void tsr_webgpu_abandon_pop(tsr_backend_device *d, tsr_popped_errors *e) {
    for (; e->pending; e->pending--)
        tsr_wgpu_abandon(d->api, d->instance, next(e));
}

tsr_status tsr_webgpu_pop_errors(tsr_backend_device *d, const char *what) {
    tsr_popped_errors e;
    tsr_webgpu_start_pop(d, &e);
    tsr_status status = tsr_webgpu_finish_pop(d, &e, what, UINT64_MAX);
    tsr_webgpu_abandon_pop(d, &e);
    return status;
}
