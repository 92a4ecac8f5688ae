#include "api/device.h"

#include "base/allocator.h"
#include "base/error.h"
#include "api/names.h"
#include "api/sized.h"

static bool any_set(const void *const *words, size_t count) {
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || words[i];
    return any;
}

static tsr_status check_adapter(const tsr_device_desc *desc) {
    if (!desc->webgpu.instance != !desc->webgpu.device)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "a WebGPU instance without a device, or a device without its instance: "
                        "give both");
    if (desc->webgpu.device && (desc->gpu > 0 || desc->webgpu.adapter))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "a WebGPU device of the caller's excludes the choice of an adapter");
    if (desc->gpu > 0 && desc->webgpu.adapter)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "gpu %d and adapter '%s' exclude each other: give one", desc->gpu,
                        desc->webgpu.adapter);
    return TSR_OK;
}

static tsr_status check_desc(const tsr_device_desc *desc) {
    const tsr_gles_desc *gles = &desc->gles;
    if ((unsigned)gles->platform > TSR_PLATFORM_CURRENT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no platform %d", (int)gles->platform);
    if (!tsr_kernels_known(desc->kernels))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "there are no kernels '%s', only plain, direct, shared and blocks",
                        desc->kernels);
    if (desc->gpu < 0 || gles->max_texture_size < 0 || gles->max_draw_buffers < 0 ||
        gles->max_uniform_block_bytes < 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "gpu %d, max_texture_size %d, max_draw_buffers %d and "
                        "max_uniform_block_bytes %d must not be negative",
                        desc->gpu, gles->max_texture_size, gles->max_draw_buffers,
                        gles->max_uniform_block_bytes);
    if (any_set(gles->reserved, sizeof gles->reserved / sizeof *gles->reserved) ||
        any_set(desc->webgpu.reserved,
                sizeof desc->webgpu.reserved / sizeof *desc->webgpu.reserved))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "reserved members of tsr_device_desc must be NULL");
    TSR_TRY(check_adapter(desc));
    if (desc->gpu > 0 && gles->platform != TSR_PLATFORM_AUTO &&
        gles->platform != TSR_PLATFORM_DEVICE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "gpu %d can be chosen on the device platform only", desc->gpu);
    return TSR_OK;
}

static tsr_status fail_backend(const char *name) {
    tsr_names names = {0};
    for (int i = 0; tsr_backends[i]; i++)
        tsr_names_add(&names, tsr_backends[i]->name);
    return tsr_fail(TSR_ERROR_NO_DEVICE, "there is no backend '%s' in this build, only %s", name,
                    names.text);
}

tsr_status tsr_device_create_sized(const tsr_device_desc *desc, size_t size, tsr_device **device) {
    if (!device)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_device_create: device is NULL");
    *device = NULL;
    tsr_device_desc filled;
    TSR_TRY(tsr_take_struct("tsr_device_desc", desc, size, &filled, sizeof filled));
    if (!filled.backend)
        filled.backend = "gles";
    TSR_TRY(check_desc(&filled));
    const tsr_backend *backend = tsr_backend_find(filled.backend);
    if (!backend)
        return fail_backend(filled.backend);
    tsr_device *created = tsr_calloc(1, sizeof *created);
    if (!created)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    created->references = 1;
    created->backend = backend;
    created->fixed_kernels = filled.kernels;
    tsr_status status = backend->device_create(&filled, &created->impl);
    if (status != TSR_OK) {
        tsr_free(created);
        return status;
    }
    *device = created;
    return TSR_OK;
}

tsr_device *tsr_device_retain(tsr_device *device) {
    device->references++;
    return device;
}

void tsr_device_destroy(tsr_device *device) {
    if (!device || --device->references > 0)
        return;
    device->backend->device_destroy(device->impl);
    tsr_tuned_layers_free(&device->tuned);
    tsr_storage_choices_clear(&device->storage);
    tsr_free(device);
}

tsr_status tsr_device_get_info_sized(const tsr_device *device, tsr_device_info *info, size_t size) {
    if (!device || !info)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_device_get_info: %s is NULL",
                        device ? "info" : "device");
    tsr_device_info known = {.backend = device->backend->name};
    device->backend->device_info(device->impl, &known);
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

tsr_status tsr_device_measure_sized(tsr_device *device, tsr_device_peaks *peaks, size_t size) {
    if (!device || !peaks)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_device_measure: %s is NULL",
                        device ? "peaks" : "device");
    tsr_device_peaks known = {0};
    tsr_give_struct(&known, sizeof known, peaks, size);
    if (!device->backend->measure)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "backend %s measures no peaks",
                        device->backend->name);
    TSR_TRY(device->backend->measure(device->impl, &known));
    tsr_give_struct(&known, sizeof known, peaks, size);
    return TSR_OK;
}

typedef struct listing { /* structs of the caller's sizes */
    tsr_device_fn fn;
    void *user;
    tsr_device_desc *desc;
    tsr_device_info *info;
    size_t desc_size, info_size;
} listing;

static void list_device(void *data, const tsr_device_desc *desc, const tsr_device_info *info,
                        const char *reason) {
    listing *l = data;
    tsr_give_struct(desc, sizeof *desc, l->desc, l->desc_size);
    if (info)
        tsr_give_struct(info, sizeof *info, l->info, l->info_size);
    l->fn(l->user, l->desc, info ? l->info : NULL, reason);
}

void tsr_list_devices_sized(tsr_device_fn fn, void *user, size_t desc_size, size_t info_size) {
    listing l = {fn,        user,     tsr_calloc(1, desc_size), tsr_calloc(1, info_size),
                 desc_size, info_size};
    for (int i = 0; fn && l.desc && l.info && tsr_backends[i]; i++)
        tsr_backends[i]->list_devices(list_device, &l);
    tsr_free(l.desc);
    tsr_free(l.info);
}
