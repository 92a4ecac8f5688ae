#include "model.h"

#include "message.h"

#include <math.h>
#include <stdio.h>

enum { SMALLEST = 8, LARGEST = 8192 };

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

static bool refuse(const picture_model *m, const char *what, const tsr_tensor_info *info) {
    char text[128];
    return complain("%s: %s '%s' %s is no picture: %s", m->path, what, info->name,
                    shape_text(&info->shape, text, sizeof text), fits);
}

static bool find_input(picture_model *m, tsr_tensor_info *info) {
    if (tsr_model_input_count(m->onnx) != 1 || tsr_model_output_count(m->onnx) < 1 ||
        tsr_model_input(m->onnx, 0, info) != TSR_OK)
        return complain("%s has %d inputs: %s", m->path, tsr_model_input_count(m->onnx), fits);
    const int64_t *dim = info->shape.dim;
    m->input = info->name;
    return (info->shape.rank == 4 && (dim[0] == 1 || dim[0] < 0) && (dim[1] == 3 || dim[1] < 0)) ||
           refuse(m, "input", info);
}

static bool is_side(int64_t side) {
    return side >= SMALLEST && side <= LARGEST;
}

static bool is_picture(const tsr_shape *s) {
    return s->rank == 4 && s->dim[0] == 1 && (s->dim[1] == 1 || s->dim[1] == 3 || s->dim[1] == 4) &&
           is_side(s->dim[2]) && is_side(s->dim[3]);
}

tsr_status model_session(const picture_model *m, tsr_device *device, tsr_session_desc desc,
                         tsr_session **session) {
    const tsr_input_shape shape = {m->input, {4, {1, 3, m->sizes.in_height, m->sizes.in_width}}};
    desc.shapes = &shape;
    desc.shape_count = 1;
    desc.override_shapes = true;
    return tsr_session_create(device, m->onnx, &desc, session);
}

/* What comes out, without a run. False: see tsr_last_error(). */
static bool plan(picture_model *m, tsr_device *device, tsr_tensor_info *output) {
    tsr_session *session;
    if (model_session(m, device, (tsr_session_desc){.plan_only = true}, &session) != TSR_OK)
        return false;
    bool good = tsr_session_output(session, 0, output) == TSR_OK;
    if (good) {
        output->name = m->output; /* the session's goes with it */
        m->sizes.out_height = (int)output->shape.dim[2];
        m->sizes.out_width = (int)output->shape.dim[3];
    }
    tsr_session_destroy(session);
    return good;
}

/* Layers may need multiples of a power of two. A result of another aspect is of a network whose
 * sizes are constants inside. */
static bool try_sizes(picture_model *m, tsr_device *device, int width, int height) {
    tsr_tensor_info output;
    picture_sizes *s = &m->sizes;
    for (int unit = 1; unit <= 64; unit *= 2) {
        s->in_width = width / unit * unit;
        s->in_height = height / unit * unit;
        if (!is_side(s->in_width) || !is_side(s->in_height))
            return false;
        if (plan(m, device, &output) && is_picture(&output.shape)) {
            double across = (double)s->out_width / s->in_width;
            double down = (double)s->out_height / s->in_height;
            if (fabs(across / down - 1) < 0.05)
                return true;
        }
    }
    return false;
}

static bool use_declared(picture_model *m, tsr_device *device, const tsr_tensor_info *input) {
    tsr_tensor_info output;
    int64_t height = input->shape.dim[2], width = input->shape.dim[3];
    if (!is_side(width) || !is_side(height))
        return refuse(m, "input", input);
    m->sizes.in_width = (int)width;
    m->sizes.in_height = (int)height;
    if (!plan(m, device, &output))
        return complain("%s", tsr_last_error());
    return is_picture(&output.shape) || refuse(m, "output", &output);
}

static bool find_sizes(picture_model *m, int width, int height) {
    tsr_tensor_info input, output;
    tsr_device *device;
    if (!find_input(m, &input))
        return false;
    if (tsr_model_output(m->onnx, 0, &output) != TSR_OK)
        return complain("%s", tsr_last_error());
    m->output = output.name;
    if (tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device) != TSR_OK)
        return complain("%s", tsr_last_error());
    if (input.shape.dim[2] < 0)
        input.shape.dim[2] = height;
    if (input.shape.dim[3] < 0)
        input.shape.dim[3] = width;
    bool good = try_sizes(m, device, width, height) || use_declared(m, device, &input);
    tsr_device_destroy(device);
    return good;
}

bool model_open(picture_model *m, const char *path, int width, int height) {
    *m = (picture_model){.path = path};
    if (tsr_model_load(path, NULL, &m->onnx) != TSR_OK)
        return complain("%s", tsr_last_error());
    return find_sizes(m, width, height);
}

void model_close(picture_model *m) {
    tsr_model_free(m->onnx);
    m->onnx = NULL;
}
