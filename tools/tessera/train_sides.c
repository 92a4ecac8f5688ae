/* What `tessera train` gives a network and compares with its outputs. */
#include "tool.h"
#include "train.h"

#include <stdlib.h>
#include <string.h>

tsr_status train_load(const train_side *side, const char *path, int part, tensor *made) {
    image_side place;
    TRY(file_check_regular(path));
    if (!picture_is_file(path))
        return part ? fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is no picture, which has halves", path)
                    : tensor_load(path, made);
    if (side->info.shape.rank != 4)
        return fail(TSR_ERROR_SHAPE, "%s: '%s' %s is no batch of pictures; give .npy files", path,
                    side->info.name, info_label(&side->info).text);
    TRY(part ? image_load_half(path, part == 2, &side->info, &side->image, made, &place)
             : image_load(path, &side->info, &side->image, made, &place));
    image_side_free(&place);
    return TSR_OK;
}

/* ---- which ------------------------------------------------------------------------------------
 */

/* As job_assign() does; folders of sides that have none are NULL. */
static tsr_status assign(const char *what, const text_list *given, train_side *sides, int count) {
    const char **names = calloc(2 * (size_t)count + 1, sizeof *names);
    if (!names)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    const char **folders = names + count;
    for (int i = 0; i < count; i++)
        names[i] = sides[i].info.name;
    tsr_status status = job_assign(what, given, count, names, folders);
    for (int i = 0; i < count && status == TSR_OK; i++)
        sides[i].folder = folders[i];
    free(names);
    return status;
}

/* "NAME=W" */
static tsr_status weigh(const train_set *s, char *text) {
    char *number = strrchr(text, '='), *end = NULL;
    double weight = number ? strtod(number + 1, &end) : 0;
    if (!number || end == number + 1 || *end || !((float)weight > 0) || (float)weight > 1e30f)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--target-weight expects NAME=W, W being above 0, not '%s'", text);
    for (int k = s->input_count; k < s->side_count; k++)
        if (strlen(s->sides[k].info.name) == (size_t)(number - text) &&
            strncmp(s->sides[k].info.name, text, (size_t)(number - text)) == 0) {
            s->sides[k].weight = (float)weight;
            return TSR_OK;
        }
    return fail(TSR_ERROR_INVALID_ARGUMENT,
                "--target-weight %s: no output of that name has targets", text);
}

static tsr_status check_inputs(const train_set *s, const job *j) {
    for (int i = 0; i < s->input_count; i++) {
        const tsr_tensor_info *info = &j->inputs[i].info;
        if (info->shape.rank < 2)
            return fail(TSR_ERROR_UNSUPPORTED,
                        "input '%s' is %s: training needs a batch, and more axes after it",
                        info->name, info_label(info).text);
        if (s->form != TRAIN_FOLDERS && s->input_count > 1)
            return fail(TSR_ERROR_UNSUPPORTED,
                        "%s: has %d inputs: give each its --data NAME=FOLDER, and --targets",
                        j->path, j->input_count);
        if (!s->sides[i].folder)
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "input '%s' has no files: give --data %s=FOLDER", info->name, info->name);
    }
    return TSR_OK;
}

/* Outputs without targets are left out; of classes and halves it is the first. */
static tsr_status find_targets(train_set *s, const job *j, int output_count) {
    train_side *targets = s->sides + s->input_count;
    int count = 0;
    for (int i = 0; i < output_count; i++) {
        TRY_LIBRARY(tsr_model_output(j->model, i, &targets[i].info));
        targets[i].index = i;
        targets[i].weight = 1;
    }
    TRY(assign("output", &s->o->targets, targets, output_count));
    for (int i = 0; i < output_count; i++)
        if (targets[i].folder || (s->form != TRAIN_FOLDERS && i == 0))
            targets[count++] = targets[i];
    s->side_count = s->input_count + count;
    for (int i = 0; i < s->o->target_weights.count; i++)
        TRY(weigh(s, s->o->target_weights.items[i]));
    return TSR_OK;
}

tsr_status train_find_sides(train_set *s, const job *j) {
    const int outputs = tsr_model_output_count(j->model);
    s->input_count = j->input_count;
    s->sides = calloc((size_t)(j->input_count + outputs) + 1, sizeof *s->sides);
    if (!s->sides)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < j->input_count; i++) {
        s->sides[i].info = j->inputs[i].info;
        s->sides[i].index = i;
    }
    TRY(assign("input", &s->o->data, s->sides, j->input_count));
    TRY(check_inputs(s, j));
    return find_targets(s, j, outputs);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool is_open(const tsr_shape *shape) {
    return tsr_shape_count(shape) < 0;
}

/* Sizes that are still open are those of the first file. */
static tsr_status shape_input(const train_set *s, train_side *input, int folder, job_input *of) {
    tsr_shape *shape = &input->info.shape;
    const char *path = s->files.samples[0].paths[folder];
    tensor first;
    input->info = of->info;
    input->image = of->image;
    shape->dim[0] = 1;
    if (is_open(shape)) {
        TRY(train_load(input, path, s->form == TRAIN_HALVES, &first));
        int without = shape->rank - first.shape.rank; /* axes */
        for (int i = 1; i < shape->rank && (without == 0 || without == 1); i++)
            shape->dim[i] = shape->dim[i] < 0 ? first.shape.dim[i - without] : shape->dim[i];
        tensor_free(&first);
    }
    if (is_open(shape) || tsr_shape_count(shape) == 0)
        return fail(TSR_ERROR_SHAPE, "%s: input '%s' is %s, of which it has not all sizes", path,
                    input->info.name, info_label(&of->info).text);
    of->info.shape = *shape;
    of->info.shape.dim[0] = s->batch;
    of->shaped = true;
    return TSR_OK;
}

static tsr_status shape_target(const train_set *s, const job *j, const tsr_session *session,
                               train_side *target) {
    tsr_tensor_info planned;
    TRY_LIBRARY(tsr_session_output(session, target->index, &planned));
    const tsr_shape shape = planned.shape;
    if (shape.rank < 2 || shape.dim[0] != s->batch || tsr_shape_count(&shape) < 1)
        return fail(TSR_ERROR_UNSUPPORTED,
                    "output '%s' is %s: training needs the batch, %d, and more axes after it",
                    target->info.name, shape_label(&shape).text, s->batch);
    target->info.shape = shape;
    target->info.shape.dim[0] = 1;
    target->image = j->output_images[target->index];
    memcpy(target->image.range, target->image.out_range, sizeof target->image.range);
    target->image.mean_count = target->image.scale_count = 0;
    target->image.threshold_text = NULL;
    target->image.fit = s->sides[0].image.fit;
    return TSR_OK;
}

/* As the cpu backend plans them, before anything is made on the device that trains. */
static tsr_status shape_targets(train_set *s, const job *j) {
    tsr_device *device;
    tsr_session *session;
    TRY(job_device(&(job_options){0}, "cpu", &device));
    tsr_status status = job_session(j, device, &(tsr_session_desc){0}, &session);
    if (status == TSR_OK) {
        for (int k = s->input_count; k < s->side_count && status == TSR_OK; k++)
            status = shape_target(s, j, session, &s->sides[k]);
        tsr_session_destroy(session);
    }
    tsr_device_destroy(device);
    return status;
}

static tsr_status check_classes(const train_set *s, const job *j) {
    const tsr_tensor_info *info = &s->sides[s->input_count].info;
    size_t classes = class_count(&info->shape), folders = (size_t)s->files.classes;
    if (!classes)
        return fail(TSR_ERROR_SHAPE,
                    "folders of classes, but output '%s' is %s, no vector of classes; "
                    "--side-by-side and --targets are for others",
                    info->name, shape_label(&info->shape).text);
    if (j->description.labels.count ? (size_t)j->description.labels.count == classes
                                    : folders == classes)
        return TSR_OK;
    return fail(
        TSR_ERROR_SHAPE, "%s: has %zu folders of classes, but output '%s' has %zu classes%s",
        s->sides[0].folder, folders, info->name, classes,
        folders < classes ? "; labels in the model's description name those that lack one" : "");
}

tsr_status train_shape_sides(train_set *s, job *j) {
    for (int i = 0; i < s->input_count; i++)
        TRY(shape_input(s, &s->sides[i], s->form == TRAIN_FOLDERS ? i : 0, &j->inputs[i]));
    TRY(shape_targets(s, j));
    for (int k = 0; k < s->side_count; k++) {
        s->sides[k].before = s->sample_count;
        s->sides[k].count = (size_t)tsr_shape_count(&s->sides[k].info.shape);
        s->sample_count += s->sides[k].count;
    }
    return s->form == TRAIN_CLASSES ? check_classes(s, j) : TSR_OK;
}
