#include "webgpu/mapping.h"

#include "base/error.h"
#include "webgpu/library.h"
#include "webgpu/tensor.h"

static void note_mapped(WGPUMapAsyncStatus status, WGPUStringView message, void *user,
                        void *unused) {
    (void)message, (void)unused;
    ((tsr_mapping *)user)->mapped = status == WGPUMapAsyncStatus_Success;
}

void tsr_mapping_start(const tsr_backend_device *d, tsr_mapping *m, WGPUMapMode mode) {
    if (!m->buffer)
        return;
    const WGPUBufferMapCallbackInfo callback = {
        .mode = WGPUCallbackMode_WaitAnyOnly, .callback = note_mapped, .userdata1 = m};
    m->future = d->api->BufferMapAsync(m->buffer, mode, 0, (size_t)m->bytes, callback);
    m->pending = true;
}

tsr_status tsr_mapping_finish(tsr_backend_device *d, tsr_mapping *m, uint64_t timeout) {
    if (!m->pending)
        return TSR_OK;
    TSR_TRY(tsr_webgpu_wait(d, m->future, timeout, &m->pending));
    return m->mapped ? TSR_OK
                     : tsr_fail(TSR_ERROR_DEVICE, "a transfer's buffer could not be mapped");
}

tsr_status tsr_mapping_write(tsr_backend_device *d, tsr_mapping *m, uint64_t bytes, void **data) {
    if (m->buffer && m->bytes >= bytes) {
        TSR_TRY(tsr_mapping_finish(d, m, UINT64_MAX));
        *data = d->api->BufferGetMappedRange(m->buffer, 0, (size_t)m->bytes);
    } else {
        tsr_mapping_destroy(d, m);
        m->buffer =
            tsr_buffer_mapped(d, WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc, bytes, data);
        m->bytes = bytes;
        m->mapped = *data != NULL;
    }
    if (*data)
        return TSR_OK;
    tsr_mapping_destroy(d, m);
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for an upload",
                    (unsigned long long)bytes);
}

void tsr_mapping_reset(tsr_backend_device *d, tsr_mapping *m) {
    if (m->pending || m->mapped)
        d->api->BufferUnmap(m->buffer); /* what is pending ends at once */
    if (m->pending)
        tsr_wgpu_abandon(d->api, d->instance, m->future);
    m->pending = m->mapped = false;
}

void tsr_mapping_destroy(tsr_backend_device *d, tsr_mapping *m) {
    tsr_mapping_reset(d, m);
    tsr_buffer_destroy(d, m->buffer);
    m->buffer = NULL;
    m->bytes = 0;
}
