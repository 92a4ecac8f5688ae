#include "remote.h"

#include <stdio.h>
#include <stdlib.h>

enum { TUNE_MS = 200 };

struct remote {
    worker *worker;
    const picture_model *model;
    settings wanted;
    tsr_device *device; /* the thread's, as what follows; others may use it unless it is busy */
    tsr_session *session;
    range in, out;
    unsigned char *pixels;
    char error[768];
};

/* ---- on the thread --------------------------------------------------------------------------- */

static bool is_good(remote *r, tsr_status status) {
    if (status != TSR_OK)
        snprintf(r->error, sizeof r->error, "%s", tsr_last_error());
    return status == TSR_OK;
}

static bool open_session(void *user) {
    remote *r = user;
    const tsr_device_desc device = {.backend = r->wanted.backend};
    const tsr_session_desc desc = {.precision = r->wanted.precision, .tune_ms = TUNE_MS};
    return is_good(r, tsr_device_create(&device, &r->device)) &&
           is_good(r, model_session(r->model, r->device, desc, &r->session));
}

static tsr_pixels describe(const remote *r, int width, int height, const range *range) {
    tsr_pixels p = {.data = r->pixels,
                    .bytes = (size_t)width * (size_t)height * 4,
                    .width = width,
                    .height = height,
                    .format = TSR_PIXELS_RGBA8};
    range_normalize(range, p.mean, p.scale);
    return p;
}

static worker_state run(void *user) {
    remote *r = user;
    const picture_model *m = r->model;
    const tsr_pixels in = describe(r, m->sizes.in_width, m->sizes.in_height, &r->in);
    const tsr_pixels out = describe(r, m->sizes.out_width, m->sizes.out_height, &r->out);
    bool good = is_good(r, tsr_session_set_input_pixels(r->session, m->input, &in)) &&
                is_good(r, tsr_session_run(r->session)) &&
                is_good(r, tsr_session_get_output_pixels(r->session, m->output, &out));
    return good ? WORKER_DONE : WORKER_FAILED;
}

static void destroy(void *user) {
    remote *r = user;
    tsr_session_destroy(r->session);
    tsr_device_destroy(r->device);
    free(r->pixels);
    free(r);
}

/* ---- in the window's thread ------------------------------------------------------------------ */

static size_t count_bytes(const picture_sizes *s) {
    size_t in = (size_t)s->in_width * (size_t)s->in_height;
    size_t out = (size_t)s->out_width * (size_t)s->out_height;
    return (in > out ? in : out) * 4;
}

remote *remote_create(const picture_model *model, const settings *wanted) {
    remote *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (remote){.model = model, .wanted = *wanted, .pixels = malloc(count_bytes(&model->sizes))};
    if (r->pixels)
        r->worker = worker_create(&(worker_job){r, open_session, run, destroy});
    if (r->worker)
        return r;
    destroy(r);
    return NULL;
}

worker *remote_worker(const remote *r) {
    return r->worker;
}

unsigned char *remote_pixels(const remote *r) {
    return r->pixels;
}

void remote_start(remote *r, range in, range out) {
    r->in = in;
    r->out = out;
    worker_request(r->worker);
}

const char *remote_error(const remote *r) {
    return r->error;
}
