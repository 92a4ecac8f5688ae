#include "api/device.h"

#include <stdlib.h>

#include "base/error.h"
#include "api/names.h"

static tsr_status check_desc(const tsr_device_desc *desc) {
    if ((unsigned)desc->platform > TSR_PLATFORM_CURRENT)
        return tsr_fail(TSR_INVALID_ARGUMENT, "there is no platform %d", (int)desc->platform);
    if ((unsigned)desc->kernels > TSR_KERNELS_BLOCKS)
        return tsr_fail(TSR_INVALID_ARGUMENT, "there is no choice of kernels %d",
                        (int)desc->kernels);
    if (desc->gpu < 0 || desc->max_texture_size < 0 || desc->max_draw_buffers < 0 ||
        desc->max_uniform_block_bytes < 0)
        return tsr_fail(TSR_INVALID_ARGUMENT,
                        "gpu %d, max_texture_size %d, max_draw_buffers %d and "
                        "max_uniform_block_bytes %d must not be negative",
                        desc->gpu, desc->max_texture_size, desc->max_draw_buffers,
                        desc->max_uniform_block_bytes);
    if (desc->gpu > 0 && desc->adapter)
        return tsr_fail(TSR_INVALID_ARGUMENT,
                        "gpu %d and adapter '%s' exclude each other: give one", desc->gpu,
                        desc->adapter);
    if (desc->gpu > 0 && desc->platform != TSR_PLATFORM_AUTO &&
        desc->platform != TSR_PLATFORM_DEVICE)
        return tsr_fail(TSR_INVALID_ARGUMENT, "gpu %d can be chosen on the device platform only",
                        desc->gpu);
    return TSR_OK;
}

static tsr_status fail_backend(const char *name) {
    tsr_names names = {0};
    for (int i = 0; tsr_backends[i]; i++)
        tsr_names_add(&names, tsr_backends[i]->name);
    return tsr_fail(TSR_NO_DEVICE, "there is no backend '%s' in this build, only %s", name,
                    names.text);
}

tsr_status tsr_device_create(const tsr_device_desc *desc, tsr_device **device) {
    if (!device)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_device_create: device is NULL");
    *device = NULL;
    tsr_device_desc filled = desc ? *desc : (tsr_device_desc){0};
    if (!filled.backend)
        filled.backend = "gles";
    TSR_TRY(check_desc(&filled));
    const tsr_backend *backend = tsr_backend_find(filled.backend);
    if (!backend)
        return fail_backend(filled.backend);
    tsr_device *created = calloc(1, sizeof *created);
    if (!created)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for a device");
    created->backend = backend;
    created->kernels = filled.kernels;
    tsr_status status = backend->device_create(&filled, &created->impl);
    if (status != TSR_OK) {
        free(created);
        return status;
    }
    *device = created;
    return TSR_OK;
}

void tsr_device_destroy(tsr_device *device) {
    if (!device)
        return;
    device->backend->device_destroy(device->impl);
    tsr_tuned_layers_free(&device->tuned);
    free(device);
}

tsr_status tsr_device_get_info(const tsr_device *device, tsr_device_info *info) {
    if (!device || !info)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_device_get_info: %s is NULL",
                        device ? "info" : "device");
    *info = (tsr_device_info){.backend = device->backend->name};
    device->backend->device_info(device->impl, info);
    return TSR_OK;
}

tsr_status tsr_device_measure(tsr_device *device, tsr_device_peaks *peaks) {
    if (!device || !peaks)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_device_measure: %s is NULL",
                        device ? "peaks" : "device");
    *peaks = (tsr_device_peaks){0};
    if (!device->backend->measure)
        return tsr_fail(TSR_UNSUPPORTED, "backend %s measures no peaks", device->backend->name);
    return device->backend->measure(device->impl, peaks);
}

void tsr_list_devices(tsr_device_fn fn, void *user) {
    for (int i = 0; fn && tsr_backends[i]; i++)
        tsr_backends[i]->list_devices(fn, user);
}
