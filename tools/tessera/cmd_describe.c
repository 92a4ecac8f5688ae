#define _POSIX_C_SOURCE 200809L
#include "description.h"
#include "job.h"
#include "output.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is known --------------------------------------------------------------------------- */

/* A text that JSON and terminals show as it is. */
static bool is_plain(const char *text) {
    char shown[4096];
    return strcmp(tsr_escape(text, shown, sizeof shown), text) == 0;
}

static cJSON *text_json(const char *text) {
    char shown[4096];
    return cJSON_CreateString(tsr_escape(text, shown, sizeof shown));
}

static void add_shape(cJSON *object, const tsr_tensor_info *info) {
    if (info->shape.rank < 0)
        return;
    cJSON *shape = cJSON_AddArrayToObject(object, "shape");
    for (int i = 0; i < info->shape.rank; i++)
        cJSON_AddItemToArray(shape, info->shape.dim[i] >= 0
                                        ? cJSON_CreateNumber((double)info->shape.dim[i])
                                    : info->dim_name[i] ? text_json(info->dim_name[i])
                                                        : cJSON_CreateNull());
}

static void add_numbers(cJSON *object, const char *key, const double *numbers, int count) {
    if (count)
        cJSON_AddItemToObject(object, key, cJSON_CreateDoubleArray(numbers, count));
}

static void add_choice(cJSON *object, const char *key, bool has, image_choice which, int index) {
    if (has)
        cJSON_AddStringToObject(object, key, image_choices(which)[index]);
}

/* Of pictures; a range that nobody told is written as the default, to be edited. */
static void add_image(cJSON *object, const tsr_tensor_info *info, const described_tensor *d) {
    const image_options *image = &d->image;
    image_view view;
    if (!image_view_of(&info->shape, image, &view) || (info->shape.rank < 4 && !d->has_range))
        return;
    bool raw = dtype_is_integer(info->dtype);
    add_numbers(
        object, "range",
        d->has_range ? image->range : (raw ? (const double[]){0, 255} : (const double[]){0, 1}), 2);
    add_numbers(object, "mean", image->mean, image->mean_count);
    add_numbers(object, "scale", image->scale, image->scale_count);
    add_choice(object, "channels", d->has_channels, IMAGE_ORDERS, image->channel_order);
    add_choice(object, "layout", true, IMAGE_LAYOUTS, view.channels_last ? 2 : 1);
    add_choice(object, "fit", d->has_fit, IMAGE_FITS, image->fit);
    if (d->size[0])
        cJSON_AddItemToObject(object, "size", cJSON_CreateIntArray(d->size, 2));
}

/* Left out where its name cannot be a key that finds it again. */
static void add_tensor(cJSON *tensors, const tsr_tensor_info *info, const described_tensor *d) {
    if (!is_plain(info->name)) {
        note("'%s' is left out: JSON cannot hold its name", info->name);
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(tensors, info->name);
    cJSON_AddStringToObject(object, "type", tsr_dtype_name(info->dtype));
    add_shape(object, info);
    add_image(object, info, d);
}

static void add_labels(cJSON *root, const labels *l) {
    cJSON *list = l->count ? cJSON_AddArrayToObject(root, "labels") : NULL;
    for (int i = 0; i < l->count; i++)
        cJSON_AddItemToArray(list, text_json(l->names[i]));
}

static tsr_status fill(cJSON *root, const job *j, const char **names) {
    const description *d = &j->description;
    tsr_tensor_info info;
    decoding decode = d->decode, guessed;
    model_task task = d->task, guess;
    bool plain = true;
    description_guess(j->model, &guess, &guessed);
    if (task == TASK_UNKNOWN && guess != TASK_UNKNOWN) {
        note("task: %s, guessed from names and shapes", task_names[guess]);
        task = guess;
    }
    if (!d->decode.type && guessed.type) {
        note("decode: %s, guessed from names and shapes", decode_names[guessed.type]);
        decode = guessed;
    }
    cJSON_AddNumberToObject(root, "tessera", 1);
    cJSON_AddStringToObject(root, "task", task_names[task]);
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < d->input_count; i++) {
        TRY_LIBRARY(tsr_model_input(j->model, i, &info));
        add_tensor(inputs, &info, &d->inputs[i]);
    }
    cJSON *outputs = cJSON_AddObjectToObject(root, "outputs");
    for (int i = 0; i < d->output_count; i++) {
        TRY_LIBRARY(tsr_model_output(j->model, i, &info));
        names[i] = info.name;
        plain = plain && is_plain(info.name);
        add_tensor(outputs, &info, &d->outputs[i]);
    }
    add_labels(root, &d->labels);
    if (decode.type && plain)
        cJSON_AddItemToObject(root, "decode", decode_json(&decode, names));
    return TSR_OK;
}

static tsr_status describe(const job *j, const char *path) {
    const char **names = calloc((size_t)j->description.output_count + 1, sizeof *names);
    cJSON *root = cJSON_CreateObject();
    tsr_status status =
        names && root ? fill(root, j, names)
                      : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the description");
    free(names);
    if (status == TSR_OK)
        return json_write(root, path ? path : "-");
    cJSON_Delete(root);
    return status;
}

int cmd_describe(int argc, char **argv) {
    job_options options = {0};
    char *path = NULL;
    const option items[] = {
        {"output", 'o', "FILE",
         "write it there; MODEL.json beside MODEL.onnx is read by all "
         "commands (standard output)",
         OPTION_TEXT, &path, 0, NULL},
        {"description", 0, "FILE", "start with this one, or with none (MODEL.json, metadata)",
         OPTION_TEXT, &options.description, 0, NULL},
    };
    option_set set = {.usage = "tessera describe MODEL [-o FILE]",
                      .notes = "Prints what is known of a model, as JSON: inputs, outputs, labels, "
                               "and what is guessed of\nits task and of how its outputs are "
                               "decoded. Edit ranges, means, labels: docs/description.md.\n",
                      .min_arguments = 1,
                      .max_arguments = 1};
    OPTIONS_ADD(&set, items);
    job j;
    int code;
    if (!job_start(&j, &set, argc, argv, &options, JOB_MISSING_OPEN, &code))
        return code;
    tsr_status status = path && !json_is_stdout(path) ? output_check(path) : TSR_OK;
    if (status == TSR_OK)
        status = describe(&j, path);
    job_close(&j);
    return command_exit(status);
}
