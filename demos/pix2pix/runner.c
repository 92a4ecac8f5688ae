#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Autotuning budget on a GPU, in the first session of a device, which keeps the results. */
enum { TUNE_MS = 200 };
enum { SMALLEST = 8, LARGEST = 2048, USUAL = 256 };

bool find_input(const tsr_model *model, const char *path, input_info *input, char *error,
                size_t error_size) {
    tsr_tensor_info info;
    if (tsr_model_input_count(model) != 1 || tsr_model_input(model, 0, &info) != TSR_OK) {
        snprintf(error, error_size, "%s: %d inputs; an image-to-image model has one", path,
                 tsr_model_input_count(model));
        return false;
    }
    const int64_t *dim = info.shape.dim;
    bool image = info.shape.rank == 4 && (dim[0] == 1 || dim[0] == -1) &&
                 (dim[1] == 3 || dim[1] == -1) && strlen(info.name) < NAME_SIZE;
    if (!image) {
        snprintf(error, error_size,
                 "%s: input '%s' is not a picture [1, 3, height, width]: not an image-to-image "
                 "model",
                 path, info.name);
        return false;
    }
    int64_t h = dim[2] < 0 ? USUAL : dim[2], w = dim[3] < 0 ? USUAL : dim[3];
    if (h < SMALLEST || w < SMALLEST || h > LARGEST || w > LARGEST) {
        snprintf(error, error_size,
                 "%s: pictures of %lld x %lld; a canvas has %d x %d to %d x %d pixels", path,
                 (long long)w, (long long)h, SMALLEST, SMALLEST, LARGEST, LARGEST);
        return false;
    }
    snprintf(input->name, sizeof input->name, "%s", info.name);
    input->width = (int)w;
    input->height = (int)h;
    return true;
}

bool runner_fail(runner *r) {
    snprintf(r->error, sizeof r->error, "%s", tsr_last_error());
    return false;
}

static bool find_outputs(runner *r, const settings *wanted) {
    const int64_t *dim = r->picture.shape.dim;
    for (int i = 0; i < tsr_session_output_count(r->session); i++) {
        tsr_tensor_info info;
        if (tsr_session_output(r->session, i, &info) != TSR_OK)
            return runner_fail(r);
        if (i == 0)
            r->picture = info;
        if (!strcmp(info.name, wanted->layer))
            r->layer = info;
    }
    if (r->picture.shape.rank == 4 && dim[0] == 1 && dim[1] == 3 && dim[2] <= 2 * LARGEST &&
        dim[3] <= 2 * LARGEST)
        return true;
    snprintf(r->error, sizeof r->error,
             "output '%s' is not a picture [1, 3, height, width] of up to %d x %d pixels: not an "
             "image-to-image model",
             r->picture.name, 2 * LARGEST, 2 * LARGEST);
    return false;
}

static bool list_layers(runner *r) {
    tsr_report report;
    if (tsr_session_report(r->session, &report) != TSR_OK)
        return runner_fail(r);
    r->layers = calloc((size_t)report.node_count + 1, sizeof *r->layers);
    if (!r->layers) {
        snprintf(r->error, sizeof r->error, "no memory for a list of %d layers", report.node_count);
        return false;
    }
    r->layer_count = report.node_count;
    runner_read_times(r);
    return true;
}

void runner_read_times(runner *r) {
    for (int i = 0; i < r->layer_count; i++) {
        tsr_node_report node;
        layer_info *layer = &r->layers[i];
        if (tsr_session_node_report(r->session, i, &node) != TSR_OK)
            continue;
        snprintf(layer->output, sizeof layer->output, "%s", node.output);
        snprintf(layer->op, sizeof layer->op, "%s", node.op);
        layer->shape = node.shape;
        layer->ms = node.ms;
    }
}

static tsr_input_shape shape_of(const input_info *input) {
    return (tsr_input_shape){input->name, {4, {1, 3, input->height, input->width}}};
}

static bool open_session(runner *r, const tsr_model *model, const input_info *input,
                         const settings *wanted, bool tunes) {
    const tsr_input_shape shape = shape_of(input);
    const bool gles = !strcmp(wanted->backend, "gles");
    const char *layer = wanted->layer;
    tsr_tensor_info output = {.name = ""};
    tsr_device_info device = {.is_cpu = true};
    tsr_model_output(model, 0, &output);
    tsr_device_get_info(r->device, &device);
    const tsr_session_desc desc = {.precision = wanted->precision,
                                   .time_passes = wanted->timed,
                                   .texture_outputs = gles,
                                   .tune_ms = tunes && !device.is_cpu ? TUNE_MS : 0,
                                   .shapes = &shape,
                                   .shape_count = 1,
                                   .extra_outputs = &layer,
                                   .extra_output_count = *layer && strcmp(layer, output.name),
                                   .prepare_in_steps = gles};
    if (tsr_session_create(r->device, model, &desc, &r->session) != TSR_OK)
        return runner_fail(r);
    return find_outputs(r, wanted) && list_layers(r);
}

static bool open_device(runner *r, const settings *wanted,
                        void *(*get_proc_address)(const char *name), tsr_device **device) {
    bool gles = !strcmp(wanted->backend, "gles");
    const tsr_device_desc desc = {.backend = wanted->backend,
                                  .gles.platform = gles ? TSR_PLATFORM_CURRENT : TSR_PLATFORM_AUTO,
                                  .gles.get_proc_address = gles ? get_proc_address : NULL};
    return tsr_device_create(&desc, device) == TSR_OK ? true : runner_fail(r);
}

bool runner_open(runner *r, const tsr_model *model, const input_info *input, const settings *wanted,
                 void *(*get_proc_address)(const char *name), bool tunes) {
    bool known = r->device != NULL;
    bool good = (known || open_device(r, wanted, get_proc_address, &r->device)) &&
                open_session(r, model, input, wanted, tunes && !known);
    if (!good)
        runner_close_session(r);
    return good;
}

bool runner_recover(runner *r, const settings *wanted) {
    tsr_device *device;
    if (!open_device(r, wanted, NULL, &device))
        return false;
    bool good = tsr_session_recover(r->session, device) == TSR_OK ? true : runner_fail(r);
    tsr_device_destroy(good ? r->device : device);
    r->device = good ? device : r->device;
    return good;
}

void runner_close_session(runner *r) {
    learner_end(&r->learner);
    tsr_session_destroy(r->session);
    free(r->layers);
    r->session = NULL;
    r->picture = r->layer = (tsr_tensor_info){.name = NULL};
    r->layers = NULL;
    r->layer_count = 0;
}

void runner_close(runner *r) {
    runner_close_session(r);
    tsr_device_destroy(r->device);
    r->device = NULL;
}

void runner_learn(runner *r, const tsr_model *model, const input_info *input, const lesson *lesson,
                  double ms) {
    const tsr_input_shape shape = shape_of(input);
    learner_work(&r->learner, r->device, model, &shape, lesson, ms);
}
