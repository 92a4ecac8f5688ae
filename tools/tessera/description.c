#define _POSIX_C_SOURCE 200809L
#include "description.h"
#include "chunks.h"
#include "fields.h"
#include "output.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const task_names[] = {"unknown",   "classification", "detection", "segmentation",
                                  "keypoints", "image",          "other",     NULL};

static tsr_status fail_memory(void) {
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the model's description");
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static char described[] = "described"; /* in the place of an option's text */

/* "shape": sizes, names of open ones and null; where both are known, both have to be the same. */
static tsr_status check_shape(const char *file, const char *where, const cJSON *shape,
                              const tsr_tensor_info *info) {
    if (!cJSON_IsArray(shape))
        return fields_fail(file, where, "shape", "is not a list");
    bool same = info->shape.rank < 0 || cJSON_GetArraySize(shape) == info->shape.rank;
    int axis = 0;
    for (const cJSON *size = shape->child; size && same && info->shape.rank >= 0;
         size = size->next, axis++)
        same = !cJSON_IsNumber(size) || info->shape.dim[axis] < 0 ||
               size->valuedouble == (double)info->shape.dim[axis];
    return same ? TSR_OK
                : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s.shape: the model has %s", file, where,
                       info_label(info).text);
}

static tsr_status check_type(const char *file, const char *where, const char *type,
                             const tsr_tensor_info *info) {
    return strcmp(type, tsr_dtype_name(info->dtype)) == 0
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s.type: the model has %s", file, where,
                      tsr_dtype_name(info->dtype));
}

/* "std", of which scale is the inverse. */
static tsr_status take_std(const char *file, const char *where, const double *std, int count,
                           image_options *image) {
    if (count && image->scale_count)
        return fields_fail(file, where, "std", "stands beside scale, its inverse");
    for (int i = 0; i < count; i++) {
        if (std[i] == 0)
            return fields_fail(file, where, "std", "is 0");
        image->scale[i] = 1 / std[i];
    }
    image->scale_count = count ? count : image->scale_count;
    return TSR_OK;
}

static tsr_status check_size(const char *file, const char *where, const described_tensor *d,
                             const tsr_tensor_info *info) {
    image_view view;
    if (!image_view_of(&info->shape, &d->image, &view))
        return fields_fail(file, where, "size", "is of no picture");
    bool same = (view.width < 0 || view.width == d->size[0]) &&
                (view.height < 0 || view.height == d->size[1]);
    return same && d->size[0] && d->size[1]
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s.size: the model has %s", file, where,
                      info_label(info).text);
}

static tsr_status read_tensor(const char *file, const char *where, const cJSON *object,
                              const tsr_tensor_info *info, bool is_output, described_tensor *d) {
    const cJSON *shape = NULL;
    const char *type = NULL;
    double range[2], std[4];
    int ranges = 0, stds = 0, sizes = 0, order = -1, layout = -1, fit = -1;
    const field fields[] = {
        {.key = "type", FIELD_TEXT, &type},
        {.key = "shape", FIELD_ANY, &shape},
        {"range", FIELD_NUMBERS, range, 2, 2, &ranges, NULL, 0},
        {.key = "channels", FIELD_CHOICE, &order, .names = image_choices(IMAGE_ORDERS)},
        {.key = "layout", FIELD_CHOICE, &layout, .names = image_choices(IMAGE_LAYOUTS)},
        /* of inputs alone */
        {.key = "fit", FIELD_CHOICE, &fit, .names = image_choices(IMAGE_FITS)},
        {"mean", FIELD_NUMBERS, d->image.mean, 1, 4, &d->image.mean_count, NULL, 0},
        {"scale", FIELD_NUMBERS, d->image.scale, 1, 4, &d->image.scale_count, NULL, 0},
        {"std", FIELD_NUMBERS, std, 1, 4, &stds, NULL, 0},
        {"size", FIELD_INTS, d->size, 2, 2, &sizes, NULL, 0},
    };
    TRY(fields_read(file, where, object, fields, is_output ? 5 : 10));
    if (ranges && range[0] == range[1])
        return fields_fail(file, where, "range", "has two equal ends");
    if (ranges)
        memcpy(d->image.range, range, sizeof range);
    d->has_range = ranges > 0;
    d->has_channels = order >= 0;
    d->has_layout = layout >= 0;
    d->has_fit = fit >= 0;
    d->image.channel_order = order < 0 ? 0 : order;
    d->image.layout = layout < 0 ? 0 : layout;
    d->image.fit = fit < 0 ? 0 : fit;
    TRY(take_std(file, where, std, stds, &d->image));
    if (type)
        TRY(check_type(file, where, type, info));
    if (shape)
        TRY(check_shape(file, where, shape, info));
    return sizes ? check_size(file, where, d, info) : TSR_OK;
}

typedef tsr_status tensor_info_fn(const tsr_model *model, int index, tsr_tensor_info *info);

static tsr_status model_input(const tsr_model *model, int index, tsr_tensor_info *info) {
    TRY_LIBRARY(tsr_model_input(model, index, info));
    return TSR_OK;
}

static tsr_status model_output(const tsr_model *model, int index, tsr_tensor_info *info) {
    TRY_LIBRARY(tsr_model_output(model, index, info));
    return TSR_OK;
}

/* The objects of "inputs" or "outputs", by name. */
static tsr_status read_tensors(const char *file, const cJSON *object, const tsr_model *model,
                               bool is_output, int count, described_tensor *made) {
    const char *what = is_output ? "outputs" : "inputs";
    tensor_info_fn *get = is_output ? model_output : model_input;
    field *fields = calloc((size_t)count + 1, sizeof *fields);
    const cJSON **objects = calloc((size_t)count + 1, sizeof(const cJSON *));
    tsr_tensor_info info;
    tsr_status status = fields && objects ? TSR_OK : fail_memory();
    for (int i = 0; i < count && status == TSR_OK; i++) {
        status = get(model, i, &info);
        fields[i] = (field){.key = info.name, FIELD_ANY, &objects[i]};
    }
    if (status == TSR_OK)
        status = fields_read(file, what, object, fields, count);
    for (int i = 0; i < count && status == TSR_OK; i++) {
        char where[300];
        if (!objects[i])
            continue;
        status = get(model, i, &info);
        snprintf(where, sizeof where, "%s.%.256s", what, info.name);
        if (status == TSR_OK)
            status = read_tensor(file, where, objects[i], &info, is_output, &made[i]);
    }
    free(fields);
    free(objects);
    return status;
}

void description_fill(const described_tensor *d, bool is_output, image_options *o) {
    static const described_tensor nothing = {0};
    d = d ? d : &nothing;
    o->channel_order = o->channel_order < 0 ? d->image.channel_order : o->channel_order;
    o->layout = o->layout < 0 ? d->image.layout : o->layout;
    o->fit = o->fit < 0 ? d->image.fit : o->fit;
    if (is_output) {
        if (d->has_range && !o->range_text && !o->out_range_text)
            memcpy(o->out_range, d->image.range, sizeof o->out_range);
        return;
    }
    if (d->has_range && !o->range_text) {
        o->range_text = described;
        memcpy(o->range, d->image.range, sizeof o->range);
    }
    if (d->image.mean_count && !o->mean_text) {
        memcpy(o->mean, d->image.mean, sizeof o->mean);
        o->mean_count = d->image.mean_count;
    }
    if (d->image.scale_count && !o->scale_text) {
        memcpy(o->scale, d->image.scale, sizeof o->scale);
        o->scale_count = d->image.scale_count;
    }
}

/* ---- labels ---------------------------------------------------------------------------------- */

static tsr_status add_labels(description *d, const cJSON *list) {
    d->labels.from = d->from;
    for (const cJSON *name = list->child; name; name = name->next) {
        if (!cJSON_IsString(name))
            return fields_fail(d->from, "", "labels", "has an element that is not a text");
        TRY(labels_add(&d->labels, name->valuestring, strlen(name->valuestring)));
    }
    return TSR_OK;
}

/* A file beside the description. */
static tsr_status read_label_file(description *d, const char *name) {
    const char *slash = name[0] == '/' ? NULL : strrchr(d->from, '/');
    size_t folder = slash ? (size_t)(slash - d->from) + 1 : 0, room = folder + strlen(name) + 1;
    char *path = malloc(room);
    if (!path)
        return fail_memory();
    snprintf(path, room, "%.*s%s", (int)folder, d->from, name);
    tsr_status status = labels_read(path, &d->labels);
    d->labels.from = d->from;
    free(path);
    return status;
}

static tsr_status read_labels(description *d, const cJSON *value, const tsr_model *model) {
    if (cJSON_IsArray(value))
        TRY(add_labels(d, value));
    else if (cJSON_IsString(value) && value->valuestring[0])
        TRY(read_label_file(d, value->valuestring));
    else
        return fields_fail(d->from, "", "labels", "is neither a list of names nor a file's name");
    return labels_check(&d->labels, model, NULL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsr_status read_decode(description *d, const cJSON *object, const tsr_model *model) {
    const char **names = calloc((size_t)d->output_count + 1, sizeof *names);
    tsr_status status = names ? TSR_OK : fail_memory();
    for (int i = 0; i < d->output_count && status == TSR_OK; i++) {
        tsr_tensor_info info;
        status = model_output(model, i, &info);
        names[i] = info.name;
    }
    if (status == TSR_OK)
        status = decode_read(d->from, object, d->output_count, names, &d->decode);
    free(names);
    return status;
}

tsr_status description_check_labels(const labels *l, const decoding *c, const tsr_model *model) {
    tsr_tensor_info info;
    if (!l->count || !c->score_count || c->type == DECODE_NONE || c->type > DECODE_NANODET)
        return TSR_OK;
    TRY(model_output(model, c->scores[0], &info));
    int rank = info.shape.rank;
    int64_t classes = rank > 1 ? info.shape.dim[rank - 1] : -1;
    if (classes >= 0 && c->type == DECODE_NANODET && !c->box_count)
        classes -= 4 * (int64_t)c->bins;
    return classes < 0 || classes == l->count ? TSR_OK : labels_fail(l, &info);
}

static tsr_status read_root(description *d, const tsr_model *model) {
    const cJSON *inputs = NULL, *outputs = NULL, *labels = NULL, *decode = NULL;
    int version = 0, task = TASK_UNKNOWN;
    const field fields[] = {
        {.key = "tessera", FIELD_INTS, &version},
        {.key = "inputs", FIELD_ANY, &inputs},
        {.key = "outputs", FIELD_ANY, &outputs},
        {.key = "labels", FIELD_ANY, &labels},
        {.key = "decode", FIELD_ANY, &decode},
        {.key = "task", FIELD_CHOICE, &task, .names = task_names},
    };
    TRY(FIELDS_READ(d->from, "", d->root, fields));
    if (version != 1)
        return fields_fail(d->from, "", "tessera", "is not 1, the version of the format");
    d->task = (model_task)task;
    if (inputs)
        TRY(read_tensors(d->from, inputs, model, false, d->input_count, d->inputs));
    if (outputs)
        TRY(read_tensors(d->from, outputs, model, true, d->output_count, d->outputs));
    if (labels)
        TRY(read_labels(d, labels, model));
    if (decode)
        TRY(read_decode(d, decode, model));
    return description_check_labels(&d->labels, &d->decode, model);
}

/* MODEL.json of MODEL.onnx, NULL where there is none (malloc). */
static char *file_beside(const char *model_path) {
    size_t length = strlen(model_path);
    if (chunks_are(model_path))
        return NULL;
    length -= file_is(model_path, ".onnx") ? strlen(".onnx") : 0;
    char *path = malloc(length + sizeof ".json");
    if (path)
        snprintf(path, length + sizeof ".json", "%.*s.json", (int)length, model_path);
    if (path && access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* As Ultralytics writes its exports' "names": {0: 'person', 1: "driver's seat"}, by class. */
static tsr_status split_dictionary(description *d, const char *text) {
    while ((text = strpbrk(text, "0123456789:"))) {
        char *at;
        long class = strtol(text, &at, 10);
        bool next = at > text && class == d->labels.count;
        at += strspn(at, "\"' ");
        next = next && *at == ':';
        at += next ? 1 + strspn(at + 1, " ") : 0;
        const char *end = next && (*at == '\'' || *at == '"') ? strchr(at + 1, *at) : NULL;
        if (!end)
            return fields_fail(d->from, "", "names",
                               "is not a dictionary of texts by number, from 0 on");
        TRY(labels_add(&d->labels, at + 1, (size_t)(end - at) - 1));
        text = end + 1;
    }
    return TSR_OK;
}

/* Names as one text: a JSON list, a dictionary, lines or a list with commas. */
static tsr_status split_labels(description *d, const char *text) {
    cJSON *list = cJSON_Parse(text);
    tsr_status status = TSR_OK;
    d->labels.from = d->from;
    if (cJSON_IsArray(list)) {
        status = add_labels(d, list);
    } else if (*text == '{') {
        status = split_dictionary(d, text);
    } else if (strchr(text, '\n')) {
        status = labels_add_lines(&d->labels, text, strlen(text));
    } else {
        while (*text && status == TSR_OK) {
            text += strspn(text, " ");
            size_t length = strcspn(text, ",");
            status = labels_add(&d->labels, text, length);
            text += length + (text[length] != 0);
        }
    }
    cJSON_Delete(list);
    return status;
}

static tsr_status copy_from(description *d, const char *model_path) {
    size_t room = strlen(model_path) + sizeof ": metadata";
    d->from = malloc(room);
    if (!d->from)
        return fail_memory();
    snprintf(d->from, room, "%s: metadata", model_path);
    return TSR_OK;
}

static tsr_status read_metadata_root(description *d, const char *text, const tsr_model *model) {
    d->root = cJSON_Parse(text);
    tsr_status status = d->root
                            ? read_root(d, model)
                            : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: tessera: is not JSON", d->from);
    return status == TSR_OK ? TSR_OK
                            : fail(status, "%s; --description none reads no metadata", failure());
}

/* What other tools mean by these keys may be anything: it is left out where it does not fit. */
static tsr_status read_metadata_labels(description *d, const char *text, const tsr_model *model) {
    tsr_status status = split_labels(d, text);
    if (status == TSR_OK)
        status = labels_check(&d->labels, model, NULL);
    if (status == TSR_OK || status == TSR_ERROR_OUT_OF_MEMORY)
        return status;
    note("%s: not read as names of classes", failure());
    labels_free(&d->labels);
    free(d->from);
    d->from = NULL;
    return TSR_OK;
}

/* The key "tessera" holds a description, else "labels", "classes" or "names" those of classes. */
static tsr_status read_metadata(description *d, const char *model_path, const tsr_model *model) {
    const char *key, *value, *text = NULL, *names = NULL;
    for (int i = 0; tsr_model_metadata(model, i, &key, &value); i++) {
        if (strcmp(key, "tessera") == 0)
            text = value;
        else if (strcmp(key, "labels") == 0 || strcmp(key, "classes") == 0 ||
                 strcmp(key, "names") == 0)
            names = value;
    }
    if (!text && !names)
        return TSR_OK;
    TRY(copy_from(d, model_path));
    TRY(text ? read_metadata_root(d, text, model) : read_metadata_labels(d, names, model));
    d->labels.of_metadata = true; /* later failures say what to do then */
    return TSR_OK;
}

/* A file beside a model may be another one's by chance: it has to say that it is a description. */
static tsr_status read_file(description *d, char *path, bool asked, const tsr_model *model) {
    TRY(json_read(path, &d->root));
    if (!asked && !cJSON_GetObjectItemCaseSensitive(d->root, "tessera")) {
        note("%s: has no key \"tessera\": not read as the model's description", path);
        cJSON_Delete(d->root);
        d->root = NULL;
        return TSR_OK;
    }
    d->from = strdup(path);
    return d->from ? read_root(d, model) : fail_memory();
}

/* One that cannot be read may be one that is being edited. */
static bool may_be_description(const char *path) {
    cJSON *root;
    bool other =
        json_read(path, &root) == TSR_OK && !cJSON_GetObjectItemCaseSensitive(root, "tessera");
    cJSON_Delete(root);
    return !other;
}

tsr_status description_check_output(const char *model_path, const char *file, const char *path) {
    char *beside = file_beside(model_path);
    bool is_one = (file && output_is_same(path, file)) ||
                  (beside && output_is_same(path, beside) && may_be_description(beside));
    free(beside);
    return is_one ? fail(TSR_ERROR_INVALID_ARGUMENT,
                         "%s: is the description of the model %s, which would be written over; "
                         "name another file",
                         path, model_path)
                  : TSR_OK;
}

static tsr_status open_any(const char *model_path, const char *file, const tsr_model *model,
                           description *made) {
    if (file && strcmp(file, "none") == 0)
        return TSR_OK;
    char *path = file ? strdup(file) : file_beside(model_path);
    if (file && !path)
        return fail_memory();
    tsr_status status = path ? read_file(made, path, file != NULL, model) : TSR_OK;
    free(path);
    return status == TSR_OK && !made->from ? read_metadata(made, model_path, model) : status;
}

tsr_status description_open(const char *model_path, const char *file, const tsr_model *model,
                            description *made) {
    *made = (description){.input_count = tsr_model_input_count(model),
                          .output_count = tsr_model_output_count(model)};
    made->inputs = calloc((size_t)made->input_count + 1, sizeof *made->inputs);
    made->outputs = calloc((size_t)made->output_count + 1, sizeof *made->outputs);
    tsr_status status =
        made->inputs && made->outputs ? open_any(model_path, file, model, made) : fail_memory();
    if (status != TSR_OK)
        description_free(made);
    return status;
}

void description_free(description *d) {
    labels_free(&d->labels);
    cJSON_Delete(d->root);
    free(d->inputs);
    free(d->outputs);
    free(d->from);
    *d = (description){0};
}
