/* Storage buffers and transfers. */
#ifndef TSR_WEBGPU_TENSOR_H
#define TSR_WEBGPU_TENSOR_H

#include "plan/layout.h"
#include "webgpu/device.h"

/* Of a tensor or a table; NULL on failure, which the enclosing error scope reports. */
WGPUBuffer tsr_buffer_storage(const tsr_backend_device *device, uint64_t bytes);
WGPUBuffer tsr_buffer_make(const tsr_backend_device *device, WGPUBufferUsage usage, uint64_t bytes);
/* The same, mapped and zeroed: fill *data, then unmap. */
WGPUBuffer tsr_buffer_mapped(const tsr_backend_device *device, WGPUBufferUsage usage,
                             uint64_t bytes, void **data);
/* That a storage buffer is copied to, to be mapped for reading. */
WGPUBuffer tsr_buffer_readback(const tsr_backend_device *device, uint64_t bytes);
/* NULL is fine. */
void tsr_buffer_destroy(const tsr_backend_device *device, WGPUBuffer buffer);
/* Fills a range of the buffer with NaN, in 16 and in 32 bits. */
tsr_status tsr_buffer_poison(const tsr_backend_device *device, WGPUBuffer buffer, uint64_t offset,
                             uint64_t bytes);

/* Where a tensor begins in its storage, in bytes. */
uint64_t tsr_tensor_offset(const tsr_layout *layout);
/* Writes a whole tensor from tsr_layout_pack's texels, which storage in fewer bits overwrites. */
void tsr_tensor_write(const tsr_backend_device *device, WGPUBuffer buffer, const tsr_layout *layout,
                      float *texels);

#endif
