#define _POSIX_C_SOURCE 200809L

#include "gles/device.h"

#include "base/allocator.h"
#include "base/error.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Thread_local const GladGLES2Context *tsr_gl;

static tsr_status fail_lost(tsr_backend_device *d) {
    d->lost = true;
    return tsr_fail(TSR_ERROR_DEVICE_LOST,
                    "the GL context was lost: destroy its sessions and the device, make them anew");
}

static tsr_status make_current(tsr_backend_device *d) {
    d->caller =
        (tsr_egl){eglGetCurrentDisplay(), eglGetCurrentContext(), eglGetCurrentSurface(EGL_DRAW)};
    d->caller_read = eglGetCurrentSurface(EGL_READ);
    if (d->caller.context == d->egl.context ||
        eglMakeCurrent(d->egl.display, d->egl.surface, d->egl.surface, d->egl.context))
        return TSR_OK;
    EGLint error = eglGetError();
    if (error == EGL_CONTEXT_LOST)
        return fail_lost(d);
    return tsr_fail(TSR_ERROR_DEVICE, "eglMakeCurrent failed (0x%x)%s", (unsigned)error,
                    error == EGL_BAD_ACCESS ? ": is the device in use on another thread?" : "");
}

static void restore_current(tsr_backend_device *d) {
    if (d->caller.context == EGL_NO_CONTEXT)
        eglMakeCurrent(d->egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    else if (d->caller.context != d->egl.context)
        eglMakeCurrent(d->caller.display, d->caller.surface, d->caller_read, d->caller.context);
}

/* The pending error, GL_NO_ERROR for none. There is one flag for each kind of error: the others are
 * cleared, by a bounded loop, since some drivers report errors forever without a current context.
 */
static GLenum clear_errors(void) {
    GLenum first = glGetError(), error = first;
    for (int i = 0; i < 8 && error != GL_NO_ERROR; i++)
        error = glGetError();
    return first;
}

tsr_status tsr_gles_check_current(const tsr_backend_device *d) {
    if (!d->adopted)
        return TSR_OK;
    EGLContext current = d->current_context ? d->current_context() : NULL;
    if (d->current_context ? !current : !d->gl.GetString(GL_VERSION))
        return tsr_fail(TSR_ERROR_DEVICE,
                        "no GL context is current on this thread: the device uses the one that was "
                        "current when it was created, which must be current at every call");
    if (current != d->adopted_context)
        return tsr_fail(TSR_ERROR_DEVICE, "another GL context is current than the one that was "
                                          "current when the device was created");
    return TSR_OK;
}

/* The caller's state is saved, unless the caller restores it. */
static void enter_adopted(tsr_backend_device *d) {
    if (d->caller_restores_state)
        tsr_gl_state_defaults();
    else
        tsr_gl_state_save(&d->saved);
}

/* What the caller does next must not change Tessera's objects, even if nothing is restored. */
static void leave_adopted(const tsr_backend_device *d) {
    if (!d->caller_restores_state) {
        tsr_gl_state_restore(&d->saved);
        return;
    }
    glBindVertexArray(0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

tsr_status tsr_gles_begin(tsr_backend_device *d) {
    if (d->lost)
        return fail_lost(d);
    tsr_gl = &d->gl;
    TSR_TRY(d->adopted ? tsr_gles_check_current(d) : make_current(d));
    tsr_status status = tsr_gles_check_lost(d);
    if (status != TSR_OK) {
        if (!d->adopted)
            restore_current(d);
        return status;
    }
    clear_errors(); /* errors of the caller, or of an earlier call */
    if (d->adopted)
        enter_adopted(d);
    glBindVertexArray(d->vertex_array);
    return TSR_OK;
}

void tsr_gles_end(tsr_backend_device *d) {
    if (d->adopted)
        leave_adopted(d);
    else
        restore_current(d);
}

tsr_status tsr_gles_check_lost(tsr_backend_device *d) {
    return d->lost || (d->reset_status && d->reset_status() != GL_NO_ERROR) ? fail_lost(d) : TSR_OK;
}

tsr_status tsr_gles_check_error(tsr_backend_device *d, const char *what) {
    TSR_TRY(tsr_gles_check_lost(d));
    GLenum error = clear_errors();
    if (error == GL_NO_ERROR)
        return TSR_OK;
    if (error == GL_CONTEXT_LOST_KHR)
        return fail_lost(d);
    if (error == GL_OUT_OF_MEMORY)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: the GL driver is out of memory", what);
    return tsr_fail(TSR_ERROR_DEVICE, "%s: GL error 0x%04x", what, (unsigned)error);
}

typedef struct callers_loader {
    void *(*get_proc_address)(const char *name);
    char missing[64]; /* a function of OpenGL ES itself that it does not know */
} callers_loader;

static bool is_extension(const char *name) {
    size_t length = strlen(name);
    const char *suffix = length > 3 ? name + length - 3 : "";
    return !strcmp(suffix, "EXT") || !strcmp(suffix, "KHR") || !strcmp(suffix, "OES");
}

static GLADapiproc load_from_caller(void *user, const char *name) {
    callers_loader *loader = user;
    union { /* ISO C has no cast from object to function pointers */
        void *object;
        GLADapiproc function;
    } proc = {loader->get_proc_address(name)};
    if (!proc.object && !is_extension(name))
        snprintf(loader->missing, sizeof loader->missing, "%s", name);
    return proc.function;
}

/* Loads the device's entry points and makes them this thread's. No ES 3 function is called before
 * the version is known. */
static tsr_status load_gl(tsr_backend_device *d, const tsr_device_desc *desc) {
    callers_loader loader = {desc->gles.get_proc_address, ""};
    if (!desc->gles.get_proc_address)
        TSR_TRY(tsr_egl_load());
    /* libGLESv2 stays loaded, as libEGL does: others may use it. */
    int version = desc->gles.get_proc_address
                      ? gladLoadGLES2ContextUserPtr(&d->gl, load_from_caller, &loader)
                      : gladLoaderLoadGLES2Context(&d->gl);
    if (!version)
        return tsr_fail(TSR_ERROR_NO_DEVICE,
                        desc->gles.platform == TSR_PLATFORM_CURRENT
                            ? "no OpenGL ES context is current on this thread"
                            : "libGLESv2 was not found; on Debian: apt install libgles2");
    tsr_gl = &d->gl;
    const char *text = tsr_gles_string(GL_VERSION);
    if (strncmp(text, "OpenGL ES ", 10) || GLAD_VERSION_MAJOR(version) < 3)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s is %s: OpenGL ES 3.0 is needed",
                        tsr_gles_string(GL_RENDERER), text);
    if (*loader.missing)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "tsr_device_desc.gles.get_proc_address finds no %s",
                        loader.missing);
    return TSR_OK;
}

static tsr_status set_up(tsr_backend_device *d, const tsr_device_desc *desc) {
    TSR_TRY(tsr_gles_find_limits(d, desc));
    tsr_program_cache_open(&d->programs, &d->info);
    glGenVertexArrays(1, &d->vertex_array);
    return tsr_gles_check_error(d, "setting up the context");
}

static tsr_status open_egl(tsr_backend_device *d, const tsr_device_desc *desc) {
    TSR_TRY(tsr_egl_create(desc, &d->egl));
    TSR_TRY(make_current(d));
    tsr_status status = load_gl(d, desc);
    if (status == TSR_OK) {
        tsr_gl_state_defaults();
        if (d->gl.KHR_parallel_shader_compile)
            glMaxShaderCompilerThreadsKHR(UINT32_MAX); /* as many as the driver chooses */
        status = set_up(d, desc);
    }
    restore_current(d);
    return status;
}

/* Contexts that something else than EGL made, as GLX, are unknown to eglGetCurrentContext(). */
static void find_adopted_context(tsr_backend_device *d, const tsr_gles_desc *desc) {
    union { /* ISO C has no cast from object to function pointers */
        void *object;
        __eglMustCastToProperFunctionPointerType function;
    } proc = {NULL};
    if (desc->get_proc_address)
        proc.object = desc->get_proc_address("eglGetCurrentContext");
    else
        proc.function = eglGetProcAddress("eglGetCurrentContext");
    if (!proc.object)
        return;
    PFNEGLGETCURRENTCONTEXTPROC current_context = (PFNEGLGETCURRENTCONTEXTPROC)proc.function;
    d->adopted_context = current_context();
    if (d->adopted_context)
        d->current_context = current_context;
}

static tsr_status open_adopted(tsr_backend_device *d, const tsr_device_desc *desc) {
    d->adopted = true;
    d->caller_restores_state = desc->gles.caller_restores_state;
    TSR_TRY(load_gl(d, desc));
    find_adopted_context(d, &desc->gles);
    clear_errors(); /* errors of the caller */
    enter_adopted(d);
    tsr_status status = set_up(d, desc);
    leave_adopted(d);
    return status;
}

/* Held while EGL's entry points may be loaded: they are the whole process's. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static tsr_status open_device(tsr_backend_device *d, const tsr_device_desc *desc) {
    pthread_mutex_lock(&loading);
    tsr_status status =
        desc->gles.platform == TSR_PLATFORM_CURRENT ? open_adopted(d, desc) : open_egl(d, desc);
    pthread_mutex_unlock(&loading);
    return status;
}

tsr_status tsr_gles_device_create(const tsr_device_desc *desc, tsr_backend_device **out) {
    tsr_backend_device *d = tsr_calloc(1, sizeof *d);
    if (!d)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    tsr_status status = open_device(d, desc);
    if (status != TSR_OK) {
        tsr_egl_destroy(&d->egl);
        tsr_free(d);
        return status;
    }
    tsr_log(TSR_LOG_INFO, "gles: %s, %s", d->info.name, d->info.version);
    *out = d;
    return TSR_OK;
}

void tsr_gles_device_destroy(tsr_backend_device *d) {
    bool usable = tsr_gles_begin(d) == TSR_OK;
    tsr_program_cache_clear(&d->programs, usable);
    tsr_weights_clear(&d->weights);
    if (usable) {
        glBindVertexArray(0);
        glDeleteVertexArrays(1, &d->vertex_array);
        tsr_gles_end(d);
    }
    if (!d->adopted)
        tsr_egl_destroy(&d->egl);
    tsr_free(d);
}

void tsr_gles_device_info(const tsr_backend_device *d, tsr_device_info *info) {
    *info = d->info;
}

static bool list_device(const tsr_device_desc *desc, tsr_device_fn fn, void *user) {
    tsr_backend_device *d = NULL;
    if (tsr_gles_device_create(desc, &d) != TSR_OK)
        return false;
    fn(user, desc, &d->info, NULL);
    tsr_gles_device_destroy(d);
    return true;
}

void tsr_gles_list_devices(tsr_device_fn fn, void *user) {
    pthread_mutex_lock(&loading);
    int count = tsr_egl_device_count(), listed = 0;
    pthread_mutex_unlock(&loading);
    for (int i = 1; i <= count; i++)
        listed += list_device(
            &(tsr_device_desc){.backend = "gles", .gles.platform = TSR_PLATFORM_DEVICE, .gpu = i},
            fn, user);
    listed += list_device(
        &(tsr_device_desc){.backend = "gles", .gles.platform = TSR_PLATFORM_SURFACELESS}, fn, user);
    if (!listed && !list_device(&(tsr_device_desc){.backend = "gles"}, fn, user))
        fn(user, &(tsr_device_desc){.backend = "gles"}, NULL, tsr_last_error());
}
