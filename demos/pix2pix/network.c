#include "network.h"

#include "message.h"

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool load(network *n, const char *path) {
    char error[512];
    model_file *f = &n->files[n->file_count];
    *f = (model_file){.path = path};
    if (tsr_model_load(path, NULL, &f->model) != TSR_OK)
        return complain("%s", tsr_last_error());
    n->file_count++;
    if (!find_input(f->model, path, &f->input, error, sizeof error))
        return complain("%s", error);
    const input_info *first = &n->files[0].input;
    return (f->input.width == first->width && f->input.height == first->height) ||
           complain("%s reads pictures of %d x %d, %s of %d x %d: they share a canvas", path,
                    f->input.width, f->input.height, n->files[0].path, first->width, first->height);
}

bool network_open(network *n, const char *const *paths, int count, float low, float high) {
    *n = (network){.low = low, .high = high};
    for (int i = 0; i < count; i++)
        if (!load(n, paths[i]))
            return false;
    n->model = n->files[0].model;
    return true;
}

const input_info *network_input(const network *n) {
    return &n->files[n->file].input;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Of gles it is planned at once, since a context is one thread's: that takes some milliseconds, and
 * what takes longer is left to prepare(). */
static bool open_instance(network *n, instance *i, const settings *wanted) {
    *i = (instance){.settings = *wanted, .input = *network_input(n), .model = n->model};
    if (!strcmp(wanted->backend, "gles")) {
        i->runner.device = n->device;
        i->exists = runner_open(&i->runner, i->model, &i->input, wanted, gl_get_proc_address,
                                !n->now.exists);
        n->device = i->runner.device;
        return i->exists || complain("%s", i->runner.error);
    }
    i->remote = remote_create(i->model, &i->input, wanted);
    i->exists = i->remote != NULL;
    return i->exists || complain("no memory for another thread");
}

static void close_instance(instance *i) {
    if (i->remote)
        worker_release(remote_worker(i->remote));
    runner_close_session(&i->runner);
    *i = (instance){.exists = false};
}

/* The picture stays; a layer's tensor is destroyed with its session. */
static void drop_session(network *n) {
    close_instance(&n->now);
    n->picture.texture.id = n->layer.texture.id = 0;
    n->running = n->fresh = false;
}

void network_leave(network *n) {
    close_instance(&n->next);
    drop_session(n);
    tsr_device_destroy(n->device);
    n->device = NULL;
    if (n->uploads[0]) /* otherwise there may be no window and no GL */
        glDeleteTextures(2, n->uploads);
    n->uploads[0] = n->uploads[1] = 0;
}

void network_close(network *n) {
    network_leave(n);
    workers_wait(); /* they use the models */
    free(n->layers);
    for (int i = 0; i < n->file_count; i++)
        tsr_model_free(n->files[i].model);
}

bool network_use(network *n, const settings *wanted) {
    close_instance(&n->next);
    n->refused = !open_instance(n, &n->next, wanted);
    n->wanted = n->refused && n->now.exists ? n->now.settings : *wanted;
    return !n->refused;
}

bool network_take(network *n, tsr_model *model) {
    n->model = model;
    return network_use(n, &n->wanted);
}

bool network_choose(network *n, int file, tsr_model *model) {
    n->file = file;
    *n->wanted.layer = '\0'; /* the other model has layers of its own */
    return network_take(n, model);
}

bool network_is_preparing(const network *n) {
    return n->next.exists;
}

bool network_has_failed(const network *n) {
    return !n->now.exists && !n->next.exists;
}

bool network_is_remote(const network *n) {
    return !n->now.runner.session && !n->next.runner.session;
}

/* A blank canvas, which needs no run, has a white picture. */
static bool is_up_to_date(const network *n, const canvas *c) {
    return canvas_is_blank(c) || (n->fresh && n->version == c->version);
}

bool network_is_current(const network *n, const canvas *c) {
    return !n->next.exists && is_up_to_date(n, c);
}

/* The session that is being made cannot be: the other goes on. */
static void refuse(network *n, const char *error) {
    complain("%s", error);
    close_instance(&n->next);
    n->refused = true;
    if (n->now.exists)
        n->wanted = n->now.settings;
}

/* A failure during a run: the session is destroyed. */
static bool fail(network *n, const char *error) {
    complain("%s", error);
    drop_session(n);
    n->refused = true;
    return false;
}

static void prepare(network *n, double ms) {
    instance *i = &n->next;
    worker_state state = i->remote ? worker_look(remote_worker(i->remote)) : WORKER_IDLE;
    tsr_status status = i->remote ? TSR_OK : tsr_session_prepare(i->runner.session, ms);
    if (state == WORKER_FAILED || (status != TSR_OK && status != TSR_NOT_READY)) {
        refuse(n, i->remote ? remote_error(i->remote) : tsr_last_error());
    } else if (state != WORKER_BUSY && status == TSR_OK) {
        drop_session(n);
        n->now = *i;
        *i = (instance){.exists = false};
    }
}

/* The results of a run, except the tensors. */
static void end_run(network *n, const runner *r) {
    layer_info *copy = realloc(n->layers, ((size_t)r->layer_count + 1) * sizeof *copy);
    if (copy) {
        memcpy(copy, r->layers, (size_t)r->layer_count * sizeof *copy);
        n->layers = copy;
        n->layer_count = r->layer_count;
    }
    n->running = false;
    n->fresh = true;
    n->ms = (glfwGetTime() - n->started) * 1e3;
}

static void begin_run(network *n, const canvas *c) {
    n->running = true;
    n->fresh = false;
    n->runs++;
    n->version = c->version;
    n->started = glfwGetTime();
}

/* N, C, H, W of a tensor of 1 to 4 axes, as in the texture layout of tessera.h. */
static void find_sizes(const tsr_shape *shape, int size[4]) {
    static const int axes[5][4] = {{0}, {1}, {0, 1}, {0, 1, 3}, {0, 1, 2, 3}};
    for (int i = 0; i < 4; i++)
        size[i] = 1;
    for (int i = 0; i < shape->rank; i++)
        size[axes[shape->rank][i]] = (int)shape->dim[i];
}

/* ---- in the window's context ----------------------------------------------------------------- */

static bool view_output(network *n, const tsr_tensor_info *info, tensor_view *view) {
    int size[4];
    find_sizes(&info->shape, size);
    view->channels = size[1];
    return tsr_session_output_texture(n->now.runner.session, info->name, &view->texture) == TSR_OK;
}

static bool set_canvas(network *n, const canvas *c) {
    const tsr_texture texture = {.id = c->target.texture,
                                 .width = c->target.width,
                                 .height = c->target.height,
                                 .columns = 1,
                                 .tiles = 1,
                                 .texture_width = c->target.width,
                                 .texture_height = c->target.height};
    return tsr_session_set_input_texture(n->now.runner.session, n->now.input.name, &texture,
                                         n->high - n->low, n->low) == TSR_OK;
}

static bool step_here(network *n, const canvas *c, double ms) {
    runner *r = &n->now.runner;
    if (!n->running && !is_up_to_date(n, c)) {
        if (!set_canvas(n, c))
            return fail(n, tsr_last_error());
        begin_run(n, c);
    }
    if (!n->running)
        return false;
    tsr_status status = tsr_session_step(r->session, ms);
    if (status == TSR_NOT_READY)
        return false;
    if (status != TSR_OK || !view_output(n, &r->picture, &n->picture) ||
        (r->layer.name && !view_output(n, &r->layer, &n->layer)))
        return fail(n, tsr_last_error());
    runner_read_times(r);
    end_run(n, r);
    return true;
}

/* ---- on a thread ----------------------------------------------------------------------------- */

float *network_read_canvas(const network *n, const canvas *c) {
    int width = c->target.width, height = c->target.height;
    size_t count = (size_t)width * (size_t)height;
    unsigned char *rgba = malloc(count * 4);
    float *input = malloc(count * 3 * sizeof *input);
    if (rgba && input) {
        gl_read_pixels(c->target.framebuffer, width, height, rgba);
        for (size_t i = 0; i < count * 3; i++)
            input[i] = (float)rgba[i % count * 4 + i / count] / 255 * (n->high - n->low) + n->low;
    } else {
        complain("no memory for the network's input");
        free(input);
        input = NULL;
    }
    free(rgba);
    return input;
}

/* RGBA texels with 4 channels each, tile by tile. */
static void pack(const tsr_texture *t, int channels, const float *elements, float *texels) {
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < t->height; y++)
            for (int x = 0; x < t->width; x++) {
                size_t column = (size_t)(c / 4 % t->columns * t->width + x);
                size_t row = (size_t)(c / 4 / t->columns * t->height + y);
                texels[(row * (size_t)t->texture_width + column) * 4 + (size_t)c % 4] = *elements++;
            }
}

/* Uploads the first image of a tensor into a texture with a near-square grid of tiles. */
static bool upload(GLuint *texture, const tsr_shape *shape, const float *elements,
                   tensor_view *view) {
    int size[4];
    find_sizes(shape, size);
    tsr_texture t = {.width = size[3], .height = size[2], .tiles = (size[1] + 3) / 4};
    t.columns = (int)ceil(sqrt((double)t.tiles * t.height / t.width));
    t.columns = t.columns < t.tiles ? t.columns : t.tiles;
    t.texture_width = t.columns * t.width;
    t.texture_height = (t.tiles + t.columns - 1) / t.columns * t.height;
    GLint largest = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
    if (t.texture_width > largest || t.texture_height > largest)
        return complain("a tensor fits no texture of at most %d x %d texels", largest, largest);
    float *texels = calloc((size_t)t.texture_width * (size_t)t.texture_height, 4 * sizeof *texels);
    if (!texels)
        return complain("no memory for a texture of %d x %d texels", t.texture_width,
                        t.texture_height);
    pack(&t, size[1], elements, texels);
    if (!*texture)
        glGenTextures(1, texture);
    t.id = *texture;
    glBindTexture(GL_TEXTURE_2D, t.id);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, t.texture_width, t.texture_height, 0, GL_RGBA,
                 GL_FLOAT, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    free(texels);
    *view = (tensor_view){t, size[1]};
    return true;
}

static bool take_result(network *n) {
    remote_result result = remote_take(n->now.remote);
    const runner *r = result.runner;
    if (!upload(&n->uploads[0], &r->picture.shape, result.picture, &n->picture) ||
        (result.layer && !upload(&n->uploads[1], &r->layer.shape, result.layer, &n->layer))) {
        drop_session(n);
        n->refused = true;
        return false;
    }
    end_run(n, r);
    return true;
}

static bool step_remote(network *n, const canvas *c) {
    worker_state state = worker_look(remote_worker(n->now.remote));
    if (state == WORKER_FAILED)
        return fail(n, remote_error(n->now.remote));
    if (state == WORKER_BUSY)
        return false;
    bool ended = state == WORKER_DONE && take_result(n);
    if (n->now.remote && !is_up_to_date(n, c)) {
        float *input = network_read_canvas(n, c);
        if (input) {
            remote_start(n->now.remote, input);
            begin_run(n, c);
        }
        free(input);
    }
    return ended;
}

bool network_step(network *n, const canvas *c, double ms) {
    if (n->next.exists)
        prepare(n, n->now.exists ? ms / 2 : ms);
    if (!n->now.exists)
        return false;
    return n->now.remote ? step_remote(n, c) : step_here(n, c, ms);
}

/* ---- learning -------------------------------------------------------------------------------- */

void network_learn(network *n, const canvas *c, const lesson *lesson, double ms) {
    if (!n->now.exists || n->running || !network_is_current(n, c))
        return;
    if (!n->now.remote)
        runner_learn(&n->now.runner, n->now.model, &n->now.input, lesson, ms);
    else if (worker_look(remote_worker(n->now.remote)) == WORKER_IDLE)
        remote_learn(n->now.remote, lesson);
}

learner *network_learner(network *n) {
    if (!n->now.exists)
        return NULL;
    if (!n->now.remote)
        return &n->now.runner.learner;
    return worker_look(remote_worker(n->now.remote)) == WORKER_IDLE ? remote_learner(n->now.remote)
                                                                    : NULL;
}
