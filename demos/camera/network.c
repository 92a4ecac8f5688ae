#include "network.h"

#include "message.h"

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 8, LARGEST = 8192, TUNE_MS = 200 };

/* ---- the model ------------------------------------------------------------------------------- */

static const char fits[] = "networks from pictures to pictures have one input [1, 3, height, width]"
                           " and an output [1, 1, 3 or 4, height, width]";

/* "[1, 3, ?, ?]" */
static const char *shape_text(const tsr_shape *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < shape->rank && used < size; i++) {
        const char *comma = i ? ", " : "";
        used += (size_t)(shape->dim[i] < 0 ? snprintf(text + used, size - used, "%s?", comma)
                                           : snprintf(text + used, size - used, "%s%lld", comma,
                                                      (long long)shape->dim[i]));
    }
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

static bool refuse(const network *n, const char *what, const tsr_tensor_info *info) {
    char text[128];
    return complain("%s: %s '%s' %s is no picture: %s", n->path, what, info->name,
                    shape_text(&info->shape, text, sizeof text), fits);
}

static bool find_input(network *n, tsr_tensor_info *info) {
    if (tsr_model_input_count(n->model) != 1 || tsr_model_output_count(n->model) < 1 ||
        tsr_model_input(n->model, 0, info) != TSR_OK)
        return complain("%s has %d inputs: %s", n->path, tsr_model_input_count(n->model), fits);
    const int64_t *dim = info->shape.dim;
    n->input = info->name;
    return (info->shape.rank == 4 && (dim[0] == 1 || dim[0] < 0) && (dim[1] == 3 || dim[1] < 0)) ||
           refuse(n, "input", info);
}

static bool is_side(int64_t side) {
    return side >= SMALLEST && side <= LARGEST;
}

static bool is_picture(const tsr_shape *s) {
    return s->rank == 4 && s->dim[0] == 1 && (s->dim[1] == 1 || s->dim[1] == 3 || s->dim[1] == 4) &&
           is_side(s->dim[2]) && is_side(s->dim[3]);
}

static tsr_session_desc describe(const network *n, tsr_input_shape *shape) {
    *shape = (tsr_input_shape){n->input, {4, {1, 3, n->sizes.in_height, n->sizes.in_width}}};
    return (tsr_session_desc){.shapes = shape, .shape_count = 1, .override_shapes = true};
}

/* What comes out, without a run. False: see tsr_last_error(). */
static bool plan(network *n, tsr_device *device, tsr_tensor_info *output) {
    tsr_input_shape shape;
    tsr_session_desc desc = describe(n, &shape);
    tsr_session *session;
    desc.plan_only = true;
    if (tsr_session_create(device, n->model, &desc, &session) != TSR_OK)
        return false;
    bool good = tsr_session_output(session, 0, output) == TSR_OK;
    if (good) {
        output->name = n->output; /* the session's goes with it */
        n->sizes.out_height = (int)output->shape.dim[2];
        n->sizes.out_width = (int)output->shape.dim[3];
    }
    tsr_session_destroy(session);
    return good;
}

/* Layers may need multiples of a power of two. A result of another aspect is of a network whose
 * sizes are constants inside. */
static bool try_sizes(network *n, tsr_device *device, int width, int height) {
    tsr_tensor_info output;
    picture_sizes *s = &n->sizes;
    for (int unit = 1; unit <= 64; unit *= 2) {
        s->in_width = width / unit * unit;
        s->in_height = height / unit * unit;
        if (!is_side(s->in_width) || !is_side(s->in_height))
            return false;
        if (plan(n, device, &output) && is_picture(&output.shape)) {
            double across = (double)s->out_width / s->in_width;
            double down = (double)s->out_height / s->in_height;
            if (fabs(across / down - 1) < 0.05)
                return true;
        }
    }
    return false;
}

static bool use_declared(network *n, tsr_device *device, const tsr_tensor_info *input) {
    tsr_tensor_info output;
    int64_t height = input->shape.dim[2], width = input->shape.dim[3];
    if (!is_side(width) || !is_side(height))
        return refuse(n, "input", input);
    n->sizes.in_width = (int)width;
    n->sizes.in_height = (int)height;
    if (!plan(n, device, &output))
        return complain("%s", tsr_last_error());
    return is_picture(&output.shape) || refuse(n, "output", &output);
}

static bool find_sizes(network *n, int width, int height) {
    tsr_tensor_info input, output;
    tsr_device *device;
    if (!find_input(n, &input))
        return false;
    if (tsr_model_output(n->model, 0, &output) != TSR_OK)
        return complain("%s", tsr_last_error());
    n->output = output.name;
    if (tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device) != TSR_OK)
        return complain("%s", tsr_last_error());
    if (input.shape.dim[2] < 0)
        input.shape.dim[2] = height;
    if (input.shape.dim[3] < 0)
        input.shape.dim[3] = width;
    bool good = try_sizes(n, device, width, height) || use_declared(n, device, &input);
    tsr_device_destroy(device);
    return good;
}

bool network_open(network *n, const char *path, int width, int height) {
    *n = (network){.path = path};
    if (tsr_model_load(path, NULL, &n->model) != TSR_OK)
        return complain("%s", tsr_last_error());
    return find_sizes(n, width, height);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static bool is_gles(const network *n) {
    return !strcmp(n->now.backend, "gles");
}

/* WebGPU's adapters of OpenGL leave a context of their own. */
static void take_context_back(const network *n) {
    if (!is_gles(n))
        glfwMakeContextCurrent(glfwGetCurrentContext());
}

static void drop_session(network *n) {
    tsr_session_destroy(n->session);
    tsr_device_destroy(n->device);
    if (n->device)
        take_context_back(n);
    free(n->pixels);
    n->session = NULL;
    n->device = NULL;
    n->pixels = NULL;
    n->running = false;
}

void network_close(network *n) {
    drop_session(n);
    tsr_model_free(n->model);
    n->model = NULL;
}

static bool fail(network *n) {
    complain("%s", tsr_last_error());
    drop_session(n);
    return false;
}

static bool open_device(network *n) {
    tsr_device_desc desc = {.backend = n->now.backend};
    if (is_gles(n))
        desc.gles = (tsr_gles_desc){.platform = TSR_PLATFORM_CURRENT,
                                    .get_proc_address = gl_get_proc_address};
    bool good = tsr_device_create(&desc, &n->device) == TSR_OK;
    take_context_back(n);
    return good;
}

static bool make_pixels(network *n) {
    const picture_sizes *s = &n->sizes;
    size_t in = (size_t)s->in_width * (size_t)s->in_height;
    size_t out = (size_t)s->out_width * (size_t)s->out_height;
    n->pixels = malloc((in > out ? in : out) * 4);
    return n->pixels || complain("no memory for pictures");
}

bool network_use(network *n, const settings *wanted) {
    tsr_device_info device;
    tsr_input_shape shape;
    drop_session(n);
    n->now = *wanted;
    if (!open_device(n) || tsr_device_get_info(n->device, &device) != TSR_OK)
        return fail(n);
    tsr_session_desc desc = describe(n, &shape);
    desc.precision = n->now.precision;
    desc.tune_ms = device.is_cpu ? 0 : TUNE_MS;
    desc.prepare_in_steps = is_gles(n);
    if (tsr_session_create(n->device, n->model, &desc, &n->session) != TSR_OK ||
        tsr_session_transfer_outputs(n->session, !is_gles(n)) != TSR_OK)
        return fail(n);
    take_context_back(n);
    if (is_gles(n) || make_pixels(n))
        return true;
    drop_session(n);
    return false;
}

bool network_prepare(network *n, double ms) {
    tsr_status status = tsr_session_prepare(n->session, ms);
    return status == TSR_OK || (status != TSR_NOT_READY && fail(n));
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* In the window's context, where textures are the network's input and output, or through memory. */

static tsr_pixels describe_pixels(const network *n, int width, int height, range r) {
    tsr_pixels p = {.data = n->pixels,
                    .bytes = (size_t)width * (size_t)height * 4,
                    .width = width,
                    .height = height,
                    .format = TSR_PIXELS_RGBA8};
    for (int i = 0; i < 4; i++) {
        p.scale[i] = (r.high - r.low) / 255;
        p.mean[i] = -r.low / p.scale[i];
    }
    return p;
}

static tsr_status set_input(network *n, const gl_target *input) {
    int width = input->width, height = input->height;
    if (is_gles(n)) {
        const tsr_texture texture = {input->texture, GL_RGBA8, width, height, 1, 1, width, height};
        return tsr_session_set_input_texture(n->session, n->input, &texture, n->in.high - n->in.low,
                                             n->in.low);
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, input->framebuffer);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, n->pixels);
    const tsr_pixels pixels = describe_pixels(n, width, height, n->in);
    tsr_status status = tsr_session_set_input_pixels(n->session, n->input, &pixels);
    take_context_back(n);
    return status;
}

static tsr_status get_output(network *n, const gl_target *result) {
    int width = result->width, height = result->height;
    const tsr_pixels p = describe_pixels(n, width, height, n->out);
    if (is_gles(n)) {
        tsr_draw_target target = {.texture = result->texture, .width = width, .height = height};
        memcpy(target.mean, p.mean, sizeof p.mean);
        memcpy(target.scale, p.scale, sizeof p.scale);
        return tsr_session_draw_output(n->session, n->output, &target);
    }
    tsr_status status = tsr_session_get_output_pixels(n->session, n->output, &p);
    take_context_back(n);
    glBindTexture(GL_TEXTURE_2D, result->texture);
    if (status == TSR_OK)
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE,
                        n->pixels);
    return status;
}

bool network_begin(network *n, const gl_target *input, double now) {
    if (set_input(n, input) != TSR_OK)
        return fail(n);
    n->running = true;
    n->started = now;
    return true;
}

bool network_step(network *n, double ms, const gl_target *result) {
    tsr_status status = tsr_session_step(n->session, ms);
    take_context_back(n);
    if (status == TSR_NOT_READY)
        return false;
    if (status != TSR_OK || get_output(n, result) != TSR_OK)
        return fail(n);
    n->running = false;
    n->ms = (glfwGetTime() - n->started) * 1e3;
    return true;
}
