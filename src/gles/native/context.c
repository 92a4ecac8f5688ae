/* Native contexts: made through EGL, or the caller's. */
#define _POSIX_C_SOURCE 200809L

#include "gles/context.h"

#include "base/allocator.h"
#include "base/error.h"
#include "gles/native/egl.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct tsr_context {
    const GladGLES2Context *gl;
    bool adopted;
    tsr_egl egl; /* of a context that is not adopted */
    /* Of an adopted context: how to find out which one is current, where EGL made it; else NULL. */
    PFNEGLGETCURRENTCONTEXTPROC current_context;
    EGLContext adopted_context;
    PFNGLGETGRAPHICSRESETSTATUSEXTPROC reset_status; /* NULL if the driver cannot tell */
    /* while it is entered: */
    tsr_egl caller; /* what was current before */
    EGLSurface caller_read;
};

_Thread_local const GladGLES2Context *tsr_gl;

/* ---- the current context --------------------------------------------------------------------- */

static tsr_status make_current(tsr_context *c) {
    c->caller =
        (tsr_egl){eglGetCurrentDisplay(), eglGetCurrentContext(), eglGetCurrentSurface(EGL_DRAW)};
    c->caller_read = eglGetCurrentSurface(EGL_READ);
    if (c->caller.context == c->egl.context ||
        eglMakeCurrent(c->egl.display, c->egl.surface, c->egl.surface, c->egl.context))
        return TSR_OK;
    EGLint error = eglGetError();
    return tsr_fail(error == EGL_CONTEXT_LOST ? TSR_ERROR_DEVICE_LOST : TSR_ERROR_DEVICE,
                    "eglMakeCurrent failed (0x%x)%s", (unsigned)error,
                    error == EGL_BAD_ACCESS ? ": is the device in use on another thread?" : "");
}

tsr_status tsr_context_check_current(const tsr_context *c) {
    if (!c->adopted)
        return TSR_OK;
    EGLContext current = c->current_context ? c->current_context() : NULL;
    if (c->current_context ? !current : !c->gl->GetString(GL_VERSION))
        return tsr_fail(TSR_ERROR_DEVICE,
                        "no GL context is current on this thread: the device uses the one that was "
                        "current when it was created, which must be current at every call");
    if (current != c->adopted_context)
        return tsr_fail(TSR_ERROR_DEVICE, "another GL context is current than the one that was "
                                          "current when the device was created");
    return TSR_OK;
}

tsr_status tsr_context_enter(tsr_context *c) {
    return c->adopted ? tsr_context_check_current(c) : make_current(c);
}

static void make_caller_current(const tsr_context *c) {
    if (c->caller.context == EGL_NO_CONTEXT)
        eglMakeCurrent(c->egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    else if (c->caller.context != c->egl.context)
        eglMakeCurrent(c->caller.display, c->caller.surface, c->caller_read, c->caller.context);
}

/* The GPU begins what is left: see create_context() in egl.c. */
void tsr_context_leave(tsr_context *c) {
    if (c->adopted)
        return;
    glFlush();
    make_caller_current(c);
}

bool tsr_context_is_adopted(const tsr_context *c) {
    return c->adopted;
}

bool tsr_context_is_lost(const tsr_context *c) {
    return c->reset_status && c->reset_status() != GL_NO_ERROR;
}

bool tsr_context_tells_loss(const tsr_context *c) {
    return c->reset_status;
}

bool tsr_context_is_remote(void) {
    return false;
}

const char *tsr_context_renderer(const tsr_context *c) {
    (void)c;
    const char *text = (const char *)glGetString(GL_RENDERER);
    return text ? text : "";
}

/* ---- loading --------------------------------------------------------------------------------- */

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

/* No ES 3 function is called before the version is known. */
static tsr_status load_gl(tsr_context *c, const tsr_device_desc *desc, GladGLES2Context *gl) {
    callers_loader loader = {desc->gles.get_proc_address, ""};
    if (!desc->gles.get_proc_address)
        TSR_TRY(tsr_egl_load());
    /* libGLESv2 stays loaded, as libEGL does: others may use it. */
    int version = desc->gles.get_proc_address
                      ? gladLoadGLES2ContextUserPtr(gl, load_from_caller, &loader)
                      : gladLoaderLoadGLES2Context(gl);
    if (!version)
        return tsr_fail(TSR_ERROR_NO_DEVICE,
                        desc->gles.platform == TSR_PLATFORM_CURRENT
                            ? "no OpenGL ES context is current on this thread"
                            : "libGLESv2 was not found; on Debian: apt install libgles2");
    tsr_gl = gl;
    const char *text = (const char *)glGetString(GL_VERSION);
    if (!text || strncmp(text, "OpenGL ES ", 10) || GLAD_VERSION_MAJOR(version) < 3)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s is %s: OpenGL ES 3.0 is needed",
                        tsr_context_renderer(c), text ? text : "");
    if (*loader.missing)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "tsr_device_desc.gles.get_proc_address finds no %s",
                        loader.missing);
    c->reset_status =
        glGetGraphicsResetStatusKHR ? glGetGraphicsResetStatusKHR : glGetGraphicsResetStatusEXT;
    return TSR_OK;
}

/* ---- creating -------------------------------------------------------------------------------- */

static tsr_status create_own(tsr_context *c, const tsr_device_desc *desc, GladGLES2Context *gl) {
    TSR_TRY(tsr_egl_create(desc, &c->egl));
    TSR_TRY(make_current(c));
    tsr_status status = load_gl(c, desc, gl);
    if (status != TSR_OK)
        make_caller_current(c);
    else if (gl->KHR_parallel_shader_compile)
        glMaxShaderCompilerThreadsKHR(UINT32_MAX); /* as many as the driver chooses */
    return status;
}

/* Contexts that something else than EGL made, as GLX, are unknown to eglGetCurrentContext(). */
static void find_adopted_context(tsr_context *c, const tsr_gles_desc *desc) {
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
    c->adopted_context = current_context();
    if (c->adopted_context)
        c->current_context = current_context;
}

static tsr_status adopt(tsr_context *c, const tsr_device_desc *desc, GladGLES2Context *gl) {
    c->adopted = true;
    TSR_TRY(load_gl(c, desc, gl));
    find_adopted_context(c, &desc->gles);
    return TSR_OK;
}

/* Held while EGL's entry points may be loaded: they are the whole process's. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

tsr_status tsr_context_create(const tsr_device_desc *desc, GladGLES2Context *gl,
                              tsr_context **context) {
    tsr_context *c = tsr_calloc(1, sizeof *c);
    if (!c)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    c->gl = gl;
    pthread_mutex_lock(&loading);
    tsr_status status =
        desc->gles.platform == TSR_PLATFORM_CURRENT ? adopt(c, desc, gl) : create_own(c, desc, gl);
    pthread_mutex_unlock(&loading);
    if (status != TSR_OK) {
        tsr_context_destroy(c);
        return status;
    }
    *context = c;
    return TSR_OK;
}

void tsr_context_destroy(tsr_context *c) {
    if (c && !c->adopted)
        tsr_egl_destroy(&c->egl);
    tsr_free(c);
}

int tsr_context_count_devices(void) {
    pthread_mutex_lock(&loading);
    int count = tsr_egl_device_count();
    pthread_mutex_unlock(&loading);
    return count;
}
