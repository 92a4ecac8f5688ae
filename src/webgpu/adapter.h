/* The adapters that WebGPU finds here, and the choice among them. */
#ifndef TSR_WEBGPU_ADAPTER_H
#define TSR_WEBGPU_ADAPTER_H

#include "base/error.h"
#include "webgpu/wgpu.h"

enum { TSR_MAX_ADAPTERS = 16 };

typedef struct tsr_adapter {
    WGPUAdapter handle; /* gives one device */
    WGPUBackendType backend;
    WGPUAdapterType type;
    uint32_t vendor, model;
    char name[256], version[256];
} tsr_adapter;

typedef struct tsr_adapters {
    const tsr_wgpu *api;
    WGPUInstance instance;
    int count;
    bool found_null; /* Dawn's Null adapter, which computes nothing; it is not counted */
    tsr_adapter items[TSR_MAX_ADAPTERS];
} tsr_adapters;

/* Loads the library and finds the adapter that desc requests by number or name; without a request
 * the first GPU of the first backend that has any adapter, else the first adapter. desc NULL: lists
 * all, each once; chosen is then NULL. Finding none is an error. Close in any case. */
tsr_status tsr_adapters_open(const tsr_device_desc *desc, tsr_adapters *adapters,
                             tsr_adapter **chosen);
void tsr_adapters_close(tsr_adapters *adapters);

/* What the adapter says of itself. */
tsr_adapter tsr_adapter_describe(const tsr_wgpu *api, WGPUAdapter handle);

/* Waits at most `timeout` nanoseconds (TSR_NOT_READY) until the future is complete. */
tsr_status tsr_wgpu_wait(const tsr_wgpu *api, WGPUInstance instance, WGPUFuture future,
                         uint64_t timeout);
/* Copies a text that ends at its length, cut off to the size. */
void tsr_wgpu_copy_text(char *text, size_t size, WGPUStringView view);

#endif
