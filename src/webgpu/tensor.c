#include "webgpu/tensor.h"

#include "base/allocator.h"
#include "base/error.h"
#include "gpu/texels.h"

#include <string.h>

/* Copies move whole words of 4 bytes, and no buffer may be empty; a texel has at least 8. */

static WGPUBuffer create(const tsr_backend_device *d, WGPUBufferUsage usage, uint64_t bytes,
                         bool mapped) {
    const WGPUBufferDescriptor desc = {.usage = usage, .size = bytes, .mappedAtCreation = mapped};
    return d->api->DeviceCreateBuffer(d->device, &desc);
}

WGPUBuffer tsr_buffer_storage(const tsr_backend_device *d, uint64_t bytes) {
    return create(d, WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst,
                  bytes, false);
}

WGPUBuffer tsr_buffer_make(const tsr_backend_device *d, WGPUBufferUsage usage, uint64_t bytes) {
    return create(d, usage, bytes, false);
}

WGPUBuffer tsr_buffer_mapped(const tsr_backend_device *d, WGPUBufferUsage usage, uint64_t bytes,
                             void **data) {
    WGPUBuffer buffer = create(d, usage, bytes, true);
    *data = buffer ? d->api->BufferGetMappedRange(buffer, 0, bytes) : NULL;
    return buffer;
}

WGPUBuffer tsr_buffer_readback(const tsr_backend_device *d, uint64_t bytes) {
    return create(d, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, bytes, false);
}

void tsr_buffer_destroy(const tsr_backend_device *d, WGPUBuffer buffer) {
    if (!buffer)
        return;
    d->api->BufferDestroy(buffer); /* frees the memory now, not with the last bind group */
    d->api->BufferRelease(buffer);
}

tsr_status tsr_buffer_poison(const tsr_backend_device *d, WGPUBuffer buffer, uint64_t offset,
                             uint64_t bytes) {
    enum { CHUNK = 1 << 20 };
    void *chunk = tsr_malloc(CHUNK);
    if (!chunk)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to poison a buffer");
    memset(chunk, 0xff, CHUNK); /* NaN in 16 and in 32 bits */
    for (uint64_t at = 0; at < bytes; at += CHUNK)
        d->api->QueueWriteBuffer(d->queue, buffer, offset + at, chunk,
                                 bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK);
    tsr_free(chunk);
    return TSR_OK;
}

uint64_t tsr_tensor_offset(const tsr_layout *l) {
    return (uint64_t)l->texture_x * (uint64_t)tsr_texel_bytes(l->format);
}

void tsr_tensor_write(const tsr_backend_device *d, WGPUBuffer buffer, const tsr_layout *l,
                      float *texels) {
    tsr_texels_narrow(l->format, texels, tsr_layout_floats(l));
    d->api->QueueWriteBuffer(d->queue, buffer, tsr_tensor_offset(l), texels,
                             (size_t)tsr_layout_bytes(l));
}
