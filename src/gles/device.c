#include "gles/device.h"

#include "base/allocator.h"
#include "base/error.h"

static tsr_status fail_lost(tsr_backend_device *d) {
    d->lost = true;
    return tsr_fail(TSR_ERROR_DEVICE_LOST,
                    "the GL context was lost: make a device anew, with which "
                    "tsr_session_recover() continues");
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
    tsr_status status = tsr_context_enter(d->context);
    if (status != TSR_OK)
        return status == TSR_ERROR_DEVICE_LOST ? fail_lost(d) : status;
    status = tsr_gles_check_lost(d);
    if (status != TSR_OK) {
        tsr_context_leave(d->context);
        return status;
    }
    if (tsr_context_is_adopted(d->context) || !tsr_context_is_remote())
        clear_errors(); /* errors of the caller, or of an earlier call */
    if (tsr_context_is_adopted(d->context))
        enter_adopted(d);
    glBindVertexArray(d->vertex_array);
    tsr_bindings_forget(&d->bindings);
    return TSR_OK;
}

tsr_status tsr_gles_end(tsr_backend_device *d, tsr_status status) {
    bool failed = status != TSR_OK && status != TSR_NOT_READY;
    if (failed && tsr_gles_check_lost(d) != TSR_OK)
        status = TSR_ERROR_DEVICE_LOST;
    if (tsr_context_is_adopted(d->context))
        leave_adopted(d);
    tsr_context_leave(d->context);
    return status;
}

tsr_status tsr_gles_check_lost(tsr_backend_device *d) {
    return d->lost || tsr_context_is_lost(d->context) ? fail_lost(d) : TSR_OK;
}

tsr_status tsr_gles_check_error(tsr_backend_device *d, const char *what) {
    return tsr_context_is_remote() ? tsr_gles_check_lost(d) : tsr_gles_check_done(d, what);
}

tsr_status tsr_gles_check_done(tsr_backend_device *d, const char *what) {
    TSR_TRY(tsr_gles_check_lost(d));
    GLenum error = clear_errors();
    if (error == GL_NO_ERROR)
        return TSR_OK;
    d->errors++;
    if (error == GL_CONTEXT_LOST_KHR)
        return fail_lost(d);
    if (error == GL_OUT_OF_MEMORY)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: the GL driver is out of memory", what);
    return tsr_fail(TSR_ERROR_DEVICE, "%s: GL error 0x%04x", what, (unsigned)error);
}

static tsr_status set_up(tsr_backend_device *d, const tsr_device_desc *desc) {
    TSR_TRY(tsr_gles_find_limits(d, desc));
    tsr_programs_open(&d->programs, &d->info);
    glGenVertexArrays(1, &d->vertex_array);
    return tsr_gles_check_done(d, "setting up the context");
}

static tsr_status open_device(tsr_backend_device *d, const tsr_device_desc *desc) {
    TSR_TRY(tsr_context_create(desc, &d->gl, &d->context));
    bool adopted = tsr_context_is_adopted(d->context);
    d->caller_restores_state = desc->gles.caller_restores_state;
    if (adopted) {
        clear_errors(); /* errors of the caller */
        enter_adopted(d);
    } else
        tsr_gl_state_defaults();
    tsr_status status = set_up(d, desc);
    if (adopted)
        leave_adopted(d);
    tsr_context_leave(d->context);
    return status;
}

tsr_status tsr_gles_device_create(const tsr_device_desc *desc, tsr_backend_device **out) {
    tsr_backend_device *d = tsr_calloc(1, sizeof *d);
    if (!d)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    tsr_status status = open_device(d, desc);
    if (status != TSR_OK) {
        tsr_context_destroy(d->context);
        tsr_free(d);
        return status;
    }
    tsr_log(TSR_LOG_INFO, "gles: %s, %s", d->info.name, d->info.version);
    *out = d;
    return TSR_OK;
}

void tsr_gles_device_destroy(tsr_backend_device *d) {
    bool usable = tsr_gles_begin(d) == TSR_OK;
    tsr_programs_clear(&d->programs, usable);
    tsr_weights_clear(&d->weights);
    if (usable) {
        glBindVertexArray(0);
        glDeleteVertexArrays(1, &d->vertex_array);
        tsr_gles_end(d, TSR_OK);
    }
    tsr_context_destroy(d->context);
    tsr_free(d);
}

bool tsr_gles_is_lost(tsr_backend_device *d) {
    if (tsr_gles_begin(d) == TSR_OK)
        tsr_gles_end(d, TSR_OK);
    return d->lost;
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
    int count = tsr_context_count_devices(), listed = 0;
    for (int i = 1; i <= count; i++)
        listed += list_device(
            &(tsr_device_desc){.backend = "gles", .gles.platform = TSR_PLATFORM_DEVICE, .gpu = i},
            fn, user);
    listed += list_device(
        &(tsr_device_desc){.backend = "gles", .gles.platform = TSR_PLATFORM_SURFACELESS}, fn, user);
    if (!listed && !list_device(&(tsr_device_desc){.backend = "gles"}, fn, user))
        fn(user, &(tsr_device_desc){.backend = "gles"}, NULL, tsr_last_error());
}
