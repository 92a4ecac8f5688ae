#include "network.h"

#include "message.h"

#include <GLFW/glfw3.h>
#include <stdio.h>
#include <string.h>

enum { TUNE_MS = 200 };

/* ---- sessions -------------------------------------------------------------------------------- */

static bool open_device(network *n) {
    const tsr_device_desc desc = {
        .backend = "gles",
        .gles = {.platform = TSR_PLATFORM_CURRENT, .get_proc_address = gl_get_proc_address}};
    return n->device || tsr_device_create(&desc, &n->device) == TSR_OK;
}

/* It is planned at once, since a context is one thread's: that takes some milliseconds, and what
 * takes longer is left to network_prepare(). The window would wait for tuning: that is left out
 * where pictures are shown already. */
static bool open_here(network *n, instance *i) {
    tsr_device_info info;
    if (!open_device(n) || tsr_device_get_info(n->device, &info) != TSR_OK)
        return false;
    const tsr_session_desc desc = {.precision = i->settings.precision,
                                   .tune_ms = info.is_cpu || n->now.exists ? 0 : TUNE_MS,
                                   .prepare_in_steps = true};
    return model_session(&n->model, n->device, desc, &i->session) == TSR_OK &&
           tsr_session_transfer_outputs(i->session, false) == TSR_OK;
}

static void close_instance(instance *i) {
    if (i->remote)
        worker_release(remote_worker(i->remote));
    tsr_session_destroy(i->session);
    *i = (instance){.exists = false};
}

static void drop_session(network *n) {
    close_instance(&n->now);
    n->running = false;
}

void network_close(network *n) {
    close_instance(&n->next);
    drop_session(n);
    tsr_device_destroy(n->device);
    n->device = NULL;
    workers_wait(); /* they use the model */
    model_close(&n->model);
}

/* The session that is being made cannot be: the other goes on. */
static void refuse(network *n, const char *error) {
    complain("%s", error);
    close_instance(&n->next);
    if (n->now.exists)
        n->wanted = n->now.settings;
}

/* A failure during a run: the session is destroyed. */
static bool fail(network *n, const char *error) {
    complain("%s", error);
    drop_session(n);
    return false;
}

static void open_instance(network *n) {
    instance *i = &n->next;
    if (!strcmp(i->settings.backend, "gles")) {
        if (!open_here(n, i))
            refuse(n, tsr_last_error());
        return;
    }
    i->remote = remote_create(&n->model, &i->settings);
    if (!i->remote)
        refuse(n, "no memory for another thread");
}

void network_use(network *n, const settings *wanted) {
    close_instance(&n->next);
    n->next = (instance){.exists = true, .settings = *wanted};
    n->wanted = *wanted;
    n->asked = glfwGetTime();
}

static void take(network *n) {
    drop_session(n);
    n->now = n->next;
    n->next = (instance){.exists = false};
    printf("%s, %s: ready after %.0f ms\n", n->wanted.backend,
           n->wanted.precision == TSR_PRECISION_FP16 ? "fp16" : "fp32",
           (glfwGetTime() - n->asked) * 1e3);
    fflush(stdout); /* whoever reads it may wait for it */
}

bool network_prepare(network *n, double ms) {
    instance *i = &n->next;
    if (!i->exists)
        return true;
    if (!i->session && !i->remote) {
        open_instance(n);
        return false;
    }
    worker_state state = i->remote ? worker_look(remote_worker(i->remote)) : WORKER_IDLE;
    tsr_status status = i->remote ? TSR_OK : tsr_session_prepare(i->session, ms);
    if (state == WORKER_FAILED || (status != TSR_OK && status != TSR_NOT_READY))
        refuse(n, i->remote ? remote_error(i->remote) : tsr_last_error());
    else if (state == WORKER_IDLE && status == TSR_OK && !n->running)
        take(n);
    return true;
}

bool network_is_preparing(const network *n) {
    return n->next.exists;
}

bool network_has_failed(const network *n) {
    return !n->now.exists && !n->next.exists;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool begin_here(network *n, const gl_target *input) {
    int width = input->width, height = input->height;
    const tsr_texture texture = {input->texture, GL_RGBA8, width, height, 1, 1, width, height};
    return tsr_session_set_input_texture(n->now.session, n->model.input, &texture,
                                         n->in.high - n->in.low, n->in.low) == TSR_OK ||
           fail(n, tsr_last_error());
}

static void begin_remote(network *n, const gl_target *input) {
    gl_read_pixels(input->framebuffer, input->width, input->height, remote_pixels(n->now.remote));
    remote_start(n->now.remote, n->in, n->out);
}

bool network_begin(network *n, const gl_target *input) {
    if (n->now.remote)
        begin_remote(n, input);
    else if (!begin_here(n, input))
        return false;
    n->running = true;
    n->started = glfwGetTime();
    return true;
}

static bool step_here(network *n, double ms, const gl_target *result) {
    tsr_session *s = n->now.session;
    tsr_draw_target target = {
        .texture = result->texture, .width = result->width, .height = result->height};
    range_normalize(&n->out, target.mean, target.scale);
    tsr_status status = tsr_session_step(s, ms);
    if (status == TSR_OK)
        status = tsr_session_draw_output(s, n->model.output, &target);
    return status == TSR_OK || (status != TSR_NOT_READY && fail(n, tsr_last_error()));
}

static bool look_remote(network *n, const gl_target *result) {
    remote *r = n->now.remote;
    worker_state state = worker_look(remote_worker(r));
    if (state == WORKER_BUSY)
        return false;
    if (state == WORKER_FAILED)
        return fail(n, remote_error(r));
    glBindTexture(GL_TEXTURE_2D, result->texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, result->width, result->height, GL_RGBA,
                    GL_UNSIGNED_BYTE, remote_pixels(r));
    worker_rest(remote_worker(r));
    return true;
}

bool network_step(network *n, double ms, const gl_target *result) {
    if (!(n->now.remote ? look_remote(n, result) : step_here(n, ms, result)))
        return false;
    n->running = false;
    n->ms = (glfwGetTime() - n->started) * 1e3;
    return true;
}
