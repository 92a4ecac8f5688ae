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
    bool found_null; /* Dawn's Null adapter, which computes nothing: it is none of those counted */
    tsr_adapter items[TSR_MAX_ADAPTERS];
} tsr_adapters;

/* Loads the library and looks for the adapter that desc asks for by number or name: without a
 * choice the first GPU of the first of WebGPU's backends that has any adapter, else the first. desc
 * NULL looks for all, each listed once; chosen is then NULL. Finding none is an error. Close in any
 * case. */
tsr_status tsr_adapters_open(const tsr_device_desc *desc, tsr_adapters *adapters,
                             tsr_adapter **chosen);
void tsr_adapters_close(tsr_adapters *adapters);

/* Blocks until the future is there. */
tsr_status tsr_wgpu_wait(const tsr_wgpu *api, WGPUInstance instance, WGPUFuture future);
/* Copies a text that ends at its length, cut off to the size. */
void tsr_wgpu_copy_text(char *text, size_t size, WGPUStringView view);

#endif
