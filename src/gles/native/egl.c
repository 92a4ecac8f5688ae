/* Creates contexts through EGL, without a window or display server. Displays are never terminated:
 * EGL has one per platform in the whole process, and terminating it would destroy the contexts of
 * other users. */
#include "gles/native/egl.h"

#include "base/error.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_EGL_DEVICES = 16 };

static bool has_extension(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* Functions that need no display. */
tsr_status tsr_egl_load(void) {
    static bool loaded;
    loaded = loaded || gladLoaderLoadEGL(EGL_NO_DISPLAY);
    return loaded
               ? TSR_OK
               : tsr_fail(
                     TSR_ERROR_NO_DEVICE,
                     "libEGL was not found; on Debian: apt install libegl1 libegl-mesa0 libgles2");
}

/* The other functions, which glad loads only for a display. */
static tsr_status load_with(EGLDisplay display) {
    static bool loaded;
    loaded = loaded || (gladLoaderLoadEGL(display) && eglGetCurrentContext);
    return loaded ? TSR_OK : tsr_fail(TSR_ERROR_NO_DEVICE, "EGL 1.4 is needed");
}

static bool has_client_extension(const char *name) {
    return has_extension(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS), name);
}

static int query_devices(EGLDeviceEXT devices[MAX_EGL_DEVICES]) {
    EGLint count = 0;
    if (tsr_egl_load() != TSR_OK || !has_client_extension("EGL_EXT_platform_device") ||
        !eglQueryDevicesEXT || !eglQueryDevicesEXT(MAX_EGL_DEVICES, devices, &count))
        return 0;
    return count;
}

int tsr_egl_device_count(void) {
    EGLDeviceEXT devices[MAX_EGL_DEVICES];
    return query_devices(devices);
}

static EGLDisplay platform_display(EGLenum platform, void *native) {
    EGLDisplay display = eglGetPlatformDisplayEXT ? eglGetPlatformDisplayEXT(platform, native, NULL)
                                                  : EGL_NO_DISPLAY;
    if (display != EGL_NO_DISPLAY && eglInitialize(display, NULL, NULL))
        return display;
    return EGL_NO_DISPLAY;
}

static tsr_status open_device(int gpu, EGLDisplay *display) {
    EGLDeviceEXT devices[MAX_EGL_DEVICES];
    int count = query_devices(devices);
    int index = gpu > 0 ? gpu - 1 : 0;
    if (index >= count)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "EGL offers %d devices: there is no GPU %d", count,
                        index + 1);
    *display = platform_display(EGL_PLATFORM_DEVICE_EXT, devices[index]);
    if (*display == EGL_NO_DISPLAY)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "EGL cannot open GPU %d of %d", index + 1, count);
    return TSR_OK;
}

static tsr_status open_surfaceless(EGLDisplay *display) {
    if (has_client_extension("EGL_MESA_platform_surfaceless"))
        *display = platform_display(EGL_PLATFORM_SURFACELESS_MESA, NULL);
    if (*display == EGL_NO_DISPLAY)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "EGL has no surfaceless platform here");
    return TSR_OK;
}

static tsr_status open_default(EGLDisplay *display) {
    *display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    if (*display == EGL_NO_DISPLAY || !eglInitialize(*display, NULL, NULL)) {
        *display = EGL_NO_DISPLAY;
        return tsr_fail(TSR_ERROR_NO_DEVICE, "EGL has no default display here");
    }
    return TSR_OK;
}

static tsr_status open_display(tsr_platform platform, int gpu, EGLDisplay *display) {
    *display = EGL_NO_DISPLAY;
    TSR_TRY(tsr_egl_load());
    switch (platform) {
    case TSR_PLATFORM_DEVICE:
        return open_device(gpu, display);
    case TSR_PLATFORM_SURFACELESS:
        return open_surfaceless(display);
    default:
        return open_default(display);
    }
}

/* EGL flushes a context that stops being current, and NVIDIA's driver waits there until most of the
 * GPU's work is done: what was submitted would not go on behind. Where EGL leaves that out if
 * asked, tsr_context_leave() flushes alone, which waits for nothing. */
static EGLContext create_context(EGLDisplay display, EGLConfig config, const char *extensions) {
    static const EGLint strategies[][2] = {
        {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET},
        {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT, EGL_LOSE_CONTEXT_ON_RESET_EXT},
        {EGL_NONE, EGL_NONE}};
    EGLint attributes[] = {EGL_CONTEXT_RELEASE_BEHAVIOR_KHR,
                           EGL_CONTEXT_RELEASE_BEHAVIOR_NONE_KHR,
                           EGL_CONTEXT_MAJOR_VERSION,
                           3,
                           EGL_CONTEXT_MINOR_VERSION,
                           0,
                           EGL_NONE,
                           EGL_NONE,
                           EGL_NONE};
    bool flush_control = has_extension(extensions, "EGL_KHR_context_flush_control");
    EGLContext context = EGL_NO_CONTEXT;
    for (int i = 0; i < 3 && context == EGL_NO_CONTEXT; i++) {
        memcpy(attributes + 6, strategies[i], sizeof strategies[i]);
        context = eglCreateContext(display, config, EGL_NO_CONTEXT,
                                   flush_control ? attributes : attributes + 2);
    }
    return context;
}

static tsr_status create_in(tsr_egl *egl) {
    const EGLint attributes[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE,
                                 EGL_PBUFFER_BIT, EGL_NONE};
    const EGLint any_surface[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, 0,
                                  EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    const char *extensions = eglQueryString(egl->display, EGL_EXTENSIONS);
    bool surfaceless = has_extension(extensions, "EGL_KHR_surfaceless_context");
    if (!eglBindAPI(EGL_OPENGL_ES_API))
        return tsr_fail(TSR_ERROR_NO_DEVICE, "EGL has no OpenGL ES");
    if ((!eglChooseConfig(egl->display, attributes, &config, 1, &count) || !count) &&
        (!surfaceless || !eglChooseConfig(egl->display, any_surface, &config, 1, &count) || !count))
        return tsr_fail(TSR_ERROR_NO_DEVICE, "EGL has no configuration for OpenGL ES 3");
    egl->context = create_context(egl->display, config, extensions);
    if (egl->context == EGL_NO_CONTEXT)
        return tsr_fail(TSR_ERROR_NO_DEVICE,
                        "EGL cannot make an OpenGL ES 3.0 context (error 0x%x)",
                        (unsigned)eglGetError());
    if (!surfaceless) {
        const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
        egl->surface = eglCreatePbufferSurface(egl->display, config, size);
        if (egl->surface == EGL_NO_SURFACE)
            return tsr_fail(TSR_ERROR_NO_DEVICE,
                            "EGL has neither surfaceless contexts nor pbuffers");
    }
    return TSR_OK;
}

tsr_status tsr_egl_create_on(EGLDisplay display, tsr_egl *egl) {
    *egl = (tsr_egl){display, EGL_NO_CONTEXT, EGL_NO_SURFACE};
    EGLenum api = eglQueryAPI(); /* restored afterwards for the caller */
    tsr_status status = create_in(egl);
    eglBindAPI(api);
    if (status != TSR_OK)
        tsr_egl_destroy(egl);
    return status;
}

static tsr_status create_on(tsr_platform platform, int gpu, tsr_egl *egl) {
    EGLDisplay display;
    TSR_TRY(open_display(platform, gpu, &display));
    TSR_TRY(load_with(display));
    return tsr_egl_create_on(display, egl);
}

/* The first GPU that opens: the surfaceless platform may choose a software rasteriser instead. */
static bool create_on_hardware(tsr_egl *egl) {
    EGLDeviceEXT devices[MAX_EGL_DEVICES];
    int count = query_devices(devices);
    for (int i = 0; i < count && eglQueryDeviceStringEXT; i++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        if (!has_extension(extensions, "EGL_MESA_device_software") &&
            create_on(TSR_PLATFORM_DEVICE, i + 1, egl) == TSR_OK)
            return true;
    }
    return false;
}

tsr_status tsr_egl_create(const tsr_device_desc *desc, tsr_egl *egl) {
    if (desc->gles.platform != TSR_PLATFORM_AUTO)
        return create_on(desc->gles.platform, desc->gpu, egl);
    if (desc->gpu)
        return create_on(TSR_PLATFORM_DEVICE, desc->gpu, egl);
    TSR_TRY(tsr_egl_load());
    if (create_on_hardware(egl))
        return TSR_OK;
    static const tsr_platform order[] = {TSR_PLATFORM_SURFACELESS, TSR_PLATFORM_DEVICE,
                                         TSR_PLATFORM_DEFAULT};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        EGLDisplay display;
        if (open_display(order[i], 1, &display) == TSR_OK) /* chosen: its failure is reported */
            return create_on(order[i], 1, egl);
    }
    return tsr_fail(
        TSR_ERROR_NO_DEVICE,
        "EGL offers neither the surfaceless platform, nor a device, nor a default display");
}

void tsr_egl_destroy(tsr_egl *egl) {
    if (egl->surface != EGL_NO_SURFACE)
        eglDestroySurface(egl->display, egl->surface);
    if (egl->context != EGL_NO_CONTEXT)
        eglDestroyContext(egl->display, egl->context);
    *egl = (tsr_egl){EGL_NO_DISPLAY, EGL_NO_CONTEXT, EGL_NO_SURFACE};
}
