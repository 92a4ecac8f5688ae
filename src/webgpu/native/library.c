#define _POSIX_C_SOURCE 200809L

#include "webgpu/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define HOW_TO_GET "tools/get-webgpu.sh fetches one, TSR_WEBGPU_LIBRARY names it"

typedef void (*function)(void);

static function find(void *handle, const char *name) {
    union { /* ISO C has no cast from object to function pointers */
        void *object;
        function function;
    } symbol = {dlsym(handle, name)};
    return symbol.function;
}

/* NULL, or the first function that is missing. */
static const char *fill_table(void *handle, tsr_wgpu *api) {
#define FILL(name)                                                                                 \
    api->name = (WGPUProc##name)find(handle, "wgpu" #name);                                        \
    if (!api->name)                                                                                \
        return "wgpu" #name;
    TSR_WGPU_FUNCTIONS(FILL)
#undef FILL
    api->DeviceForceLoss = (WGPUProcDeviceForceLoss)find(handle, "wgpuDeviceForceLoss");
    return NULL;
}

/* Libraries tell no version; the names of the functions about instances changed with the ABI. */
static tsr_status recognise(void *handle, const char *path, tsr_wgpu *api) {
    if (find(handle, "wgpuGetVersion"))
        return tsr_fail(TSR_ERROR_NO_DEVICE,
                        "%s is wgpu-native, whose ABI is not known here, only Dawn's; %s", path,
                        HOW_TO_GET);
    const char *missing = fill_table(handle, api);
    if (missing)
        return tsr_fail(TSR_ERROR_NO_DEVICE,
                        "%s lacks %s: it is no WebGPU library of a known ABI; %s", path, missing,
                        HOW_TO_GET);
    bool features = find(handle, "wgpuGetInstanceFeatures"),
         limits = find(handle, "wgpuGetInstanceLimits"),
         capabilities = find(handle, "wgpuGetInstanceCapabilities");
    if (features && limits)
        api->abi = TSR_WGPU_HEADER;
    else if (!features && capabilities)
        api->abi = TSR_WGPU_MID_2025;
    else
        return tsr_fail(TSR_ERROR_NO_DEVICE,
                        "%s has neither wgpuGetInstanceFeatures with wgpuGetInstanceLimits nor "
                        "wgpuGetInstanceCapabilities alone: its ABI is none of those known here; "
                        "%s",
                        path, HOW_TO_GET);
    return TSR_OK;
}

/* NULL if there is no such library; status says whether it is one that can be used. */
static void *open_library(const char *path, tsr_wgpu *api, tsr_status *status) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return NULL;
    *status = recognise(handle, path, api);
    if (*status != TSR_OK)
        dlclose(handle);
    return handle;
}

/* Where tools/get-webgpu.sh puts the library; "" if the environment names no folder. As in the XDG
 * specification, a relative path is ignored: nothing is loaded from the current folder. */
static void find_fetched(char *path, size_t size) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    const char *file = "tessera/webgpu/lib/libwebgpu_wrapper.so";
    int length = -1;
    if (data && *data == '/')
        length = snprintf(path, size, "%s/%s", data, file);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.local/share/%s", home, file);
    if (length < 0 || (size_t)length >= size)
        *path = '\0';
}

static tsr_status load(tsr_wgpu *api) {
    char fetched[PATH_MAX];
    const char *const usual[] = {"libwebgpu_dawn.so", "libwebgpu.so", "libwebgpu_wrapper.so",
                                 "libwgpu_native.so", fetched};
    const char *named = getenv("TSR_WEBGPU_LIBRARY");
    tsr_status status = TSR_OK;
    if (named && *named) {
        if (!open_library(named, api, &status))
            return tsr_fail(TSR_ERROR_NO_DEVICE, "TSR_WEBGPU_LIBRARY=%s cannot be loaded: %s",
                            named, dlerror());
        return status;
    }
    find_fetched(fetched, sizeof fetched);
    bool found = false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        found |= *usual[i] && open_library(usual[i], api, &status) != NULL;
        if (found && status == TSR_OK)
            return TSR_OK;
    }
    return found ? status
                 : tsr_fail(TSR_ERROR_NO_DEVICE, "no WebGPU library was found; %s", HOW_TO_GET);
}

tsr_status tsr_wgpu_load(const tsr_wgpu **api) {
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    static tsr_wgpu loaded;
    static bool done;
    pthread_mutex_lock(&loading);
    tsr_status status = done ? TSR_OK : load(&loaded);
    done = status == TSR_OK;
    pthread_mutex_unlock(&loading);
    *api = &loaded;
    return status;
}

/* Vulkan's loader unloads drivers with the process's last instance, but a driver may share code and
 * state with its OpenGL ES, which other threads may be using. The first instance that found an
 * adapter is therefore never released. */
void tsr_wgpu_keep(const tsr_wgpu *api, WGPUInstance instance) {
    static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
    static WGPUInstance kept;
    pthread_mutex_lock(&keeping);
    if (!kept) {
        kept = instance;
        api->InstanceAddRef(kept);
    }
    pthread_mutex_unlock(&keeping);
}

/* It runs now. */
void tsr_wgpu_abandon(const tsr_wgpu *api, WGPUInstance instance, WGPUFuture future) {
    api->InstanceWaitAny(instance, 1, &(WGPUFutureWaitInfo){.future = future}, UINT64_MAX);
}

bool tsr_wgpu_blocks(const tsr_wgpu *api) {
    (void)api;
    return true;
}

bool tsr_wgpu_shares_device(const tsr_wgpu *api) {
    (void)api;
    return false;
}

const char *tsr_wgpu_needs(void) {
    return "a Vulkan driver is needed (if one is refused, stderr has the reason); without a GPU, "
           "on Debian: apt install libvulkan1 chromium-common, and set "
           "VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json";
}

/* ---- ABI differences ------------------------------------------------------------------------- */

/* WGPUInstanceDescriptor of TSR_WGPU_MID_2025. */
typedef struct instance_descriptor_mid {
    WGPUChainedStruct *nextInChain;
    struct {
        WGPUChainedStruct *nextInChain;
        WGPUBool timedWaitAnyEnable;
        size_t timedWaitAnyMaxCount;
    } capabilities;
} instance_descriptor_mid;

WGPUInstance tsr_wgpu_create_instance(const tsr_wgpu *api) {
    if (api->abi == TSR_WGPU_MID_2025) {
        const instance_descriptor_mid mid = {NULL, {NULL, true, 1}};
        return api->CreateInstance((const void *)&mid);
    }
    const WGPUInstanceFeatureName timed = WGPUInstanceFeatureName_TimedWaitAny;
    const WGPUInstanceLimits limits = {.timedWaitAnyMaxCount = 1};
    return api->CreateInstance(&(WGPUInstanceDescriptor){
        .requiredFeatureCount = 1, .requiredFeatures = &timed, .requiredLimits = &limits});
}

bool tsr_wgpu_has_subgroup_matrix(void) {
    return false;
}

WGPUFeatureName tsr_wgpu_timestamp_query(const tsr_wgpu *api) {
    return api->abi == TSR_WGPU_MID_2025 ? (WGPUFeatureName)3 : WGPUFeatureName_TimestampQuery;
}
